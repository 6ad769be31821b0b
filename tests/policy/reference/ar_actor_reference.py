"""Writes tests/data/ar_actor_reference.safetensors: AR-Actor at a tiny size, in NumPy, float64.

Needs only NumPy: python3 ar_actor_reference.py OUT. Weights come from `weight`, a closed formula
of name and index, so that no generator has to agree between languages.
"""
import json
import struct
import sys
import zlib

import numpy as np

HEIGHT, WIDTH, CHANNELS, DIM, HEADS, FFN = 64, 96, 4, 32, 4, 48
LAYERS, STATE, ACTION, LATENT, HISTORY, CHUNK, BATCH = 4, 5, 3, 6, 4, 6, 2
HEAD_DIM = DIM // HEADS


def formula(name, shape, scale, offset=0.0):
    """sin of the index, with a phase that the name decides."""
    phase = (zlib.crc32(name.encode()) % 10007) / 10007.0 * 6.0
    index = np.arange(int(np.prod(shape)), dtype=np.float64)
    values = offset + scale * np.sin(1.7 * index + 0.3 * np.sqrt(index) + phase)
    return values.astype(np.float32).astype(np.float64).reshape(shape)


def weight(name, shape):
    if name.endswith("running_var"):
        return formula(name, shape, 0.3, 1.0)
    if name.endswith("running_mean"):
        return formula(name, shape, 0.2)
    is_norm = "norm" in name or ".bn" in name or "downsample.1" in name
    if is_norm and name.endswith(".weight"):
        return formula(name, shape, 0.3, 1.0)
    if name.endswith("bias"):
        return formula(name, shape, 0.2)
    fan_in = int(np.prod(shape[1:]))
    return formula(name, shape, 1.5 / np.sqrt(fan_in))


def conv(x, w, stride, padding):
    x = np.pad(x, ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    k = w.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(x, (k, k), axis=(2, 3))
    return np.einsum("bchwij,ocij->bohw", windows[:, :, ::stride, ::stride], w, optimize=True)


def conv_bn(x, conv_name, bn_name, out, k, stride):
    y = conv(x, weight(conv_name + ".weight", (out, x.shape[1], k, k)), stride, k // 2)
    scale, shift, mean, var = (
        weight(bn_name + s, (out,))[:, None, None]
        for s in (".weight", ".bias", ".running_mean", ".running_var"))
    return (y - mean) / np.sqrt(var + 1e-5) * scale + shift


def relu(x):
    return np.maximum(x, 0)


def resnet(x):
    p = "model.backbone"
    x = relu(conv_bn(x, p + ".conv1", p + ".bn1", CHANNELS, 7, 2))
    x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    x = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(2, 3))[:, :, ::2, ::2]
    x = x.max(axis=(-1, -2))
    for stage in range(4):
        out = CHANNELS * 2**stage
        for block in range(2):
            name = f"{p}.layer{stage + 1}.{block}"
            stride = 2 if stage and not block else 1
            y = relu(conv_bn(x, name + ".conv1", name + ".bn1", out, 3, stride))
            y = conv_bn(y, name + ".conv2", name + ".bn2", out, 3, 1)
            if stride == 2:
                x = conv_bn(x, name + ".downsample.0", name + ".downsample.1", out, 1, 2)
            x = relu(y + x)
    return x


def layer_norm(x, name):
    centred = x - x.mean(-1, keepdims=True)
    normal = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
    return normal * weight(name + ".weight", (x.shape[-1],)) + weight(name + ".bias", (x.shape[-1],))


def linear(x, name, out):
    return x @ weight(name + ".weight", (out, x.shape[-1])).T + weight(name + ".bias", (out,))


def heads(x):
    return x.reshape(*x.shape[:2], HEADS, HEAD_DIM).transpose(0, 2, 1, 3)


def merge(x):
    return x.transpose(0, 2, 1, 3).reshape(x.shape[0], x.shape[2], DIM)


def attend(q, k, v, visible=None):
    """A row that sees nothing gives zero."""
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(HEAD_DIM)
    if visible is None:
        visible = np.ones_like(scores, dtype=bool)
    visible = np.broadcast_to(visible, scores.shape)
    top = np.where(visible, scores, -1e300).max(-1, keepdims=True)
    weights = np.where(visible, np.exp(np.where(visible, scores - top, 0.0)), 0.0)
    total = weights.sum(-1, keepdims=True)
    return np.where(total > 0, weights / np.where(total > 0, total, 1.0), 0.0) @ v


def project(x, layer, which):
    return x @ weight(f"{layer}.self_attn.{which}_proj.weight", (DIM, DIM)).T


def after_attention(x, attended, layer):
    x = x + project(merge(attended), layer, "out")
    h = relu(linear(layer_norm(x, layer + ".norm2"), layer + ".linear1", FFN))
    return x + linear(h, layer + ".linear2", DIM)


def sine_axis(n):
    half = DIM // 2
    angle = np.arange(1, n + 1) / (n + 1e-6) * 2 * np.pi
    table = np.empty((n, half))
    for j in range(half):
        scaled = angle / 10000.0 ** (2 * (j // 2) / half)
        table[:, j] = np.sin(scaled) if j % 2 == 0 else np.cos(scaled)
    return table


def sine_2d(high, wide):
    y, x = sine_axis(high), sine_axis(wide)
    return np.array([np.concatenate([y[r], x[c]]) for r in range(high) for c in range(wide)])


def rope(x, positions):
    half = HEAD_DIM // 2
    angle = positions[:, None] * 10000.0 ** (-np.arange(half) / half)
    cos, sin = np.cos(angle), np.sin(angle)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def encode(image):
    mean = np.array([0.485, 0.456, 0.406])
    std = np.array([0.229, 0.224, 0.225])
    x = ((image / 255.0 - mean) / std).transpose(0, 3, 1, 2)
    feature = resnet(x)
    w = weight("model.encoder_img_feat_input_proj.weight", (DIM, 8 * CHANNELS, 1, 1))[:, :, 0, 0]
    mapped = np.einsum("bchw,oc->bohw", feature, w)
    mapped += weight("model.encoder_img_feat_input_proj.bias", (DIM,))[:, None, None]
    position = sine_2d(*mapped.shape[2:])
    xs = [mapped.reshape(BATCH, DIM, -1).transpose(0, 2, 1)]
    prefix = []
    for i in range(LAYERS):
        layer = f"model.encoder.layers.{i}"
        h = layer_norm(xs[-1], layer + ".norm1")
        q, k = (heads(project(h + position, layer, n)) for n in "qk")
        v = heads(project(h, layer, "v"))
        prefix.append((k, v))
        xs.append(after_attention(xs[-1], attend(q, k, v), layer))
    return xs, prefix, position


def autoregressive(states, valid, drop, prefix):
    offsets = np.arange(-HISTORY, CHUNK)
    tokens = prefix[0][0].shape[2]
    visible = np.zeros((BATCH, 1, HISTORY + CHUNK, tokens + HISTORY + CHUNK), dtype=bool)
    for b in range(BATCH):
        for row, row_offset in enumerate(offsets):
            visible[b, 0, row, :tokens] = row_offset >= 0
            for column, column_offset in enumerate(offsets):
                dropped = row_offset >= 0 > column_offset and drop[row_offset, column]
                visible[b, 0, row, tokens + column] = (
                    column_offset <= row_offset and valid[b, column] and not dropped)
    x = linear(states, "model.state_input_proj", DIM)
    for i in range(LAYERS):
        layer = f"model.decoder.layers.{i}"
        h = layer_norm(x, layer + ".norm1")
        q, k = (rope(heads(project(h, layer, n)), offsets) for n in "qk")
        v = heads(project(h, layer, "v"))
        k = np.concatenate([prefix[i][0], k], 2)
        v = np.concatenate([prefix[i][1], v], 2)
        x = after_attention(x, attend(q, k, v, visible), layer)
    x = layer_norm(x[:, HISTORY:], "model.decoder.norm")
    return linear(x, "model.action_head", ACTION)


def packed_attention(q, k, v, name):
    w = weight(name + ".in_proj_weight", (3 * DIM, DIM))
    bias = weight(name + ".in_proj_bias", (3 * DIM,))
    q, k, v = (heads(x @ w[i * DIM:(i + 1) * DIM].T + bias[i * DIM:(i + 1) * DIM])
               for i, x in enumerate((q, k, v)))
    return linear(merge(attend(q, k, v)), name + ".out_proj", DIM)


def parallel(memory, position):
    layer = "model.act_decoder.layers.0"
    query = weight("model.decoder_pos_embed.weight", (CHUNK, DIM))
    x = np.zeros((BATCH, CHUNK, DIM))
    x = x + packed_attention(x + query, x + query, x, layer + ".self_attn")
    x = layer_norm(x, layer + ".norm1")
    x = x + packed_attention(x + query, memory + position, memory, layer + ".multihead_attn")
    x = layer_norm(x, layer + ".norm2")
    x = x + linear(relu(linear(x, layer + ".linear1", FFN)), layer + ".linear2", DIM)
    x = layer_norm(x, layer + ".norm3")
    return linear(layer_norm(x, "model.act_decoder.norm"), "model.fast_head", ACTION)


def losses(predicted, actions, is_pad):
    error = np.abs(predicted - actions) * ~is_pad[:, :, None]
    return error.sum() / ((~is_pad).sum() * ACTION), error.mean()


def write_safetensors(path, tensors, metadata):
    names = {np.dtype("float32"): "F32", np.dtype("uint8"): "U8", np.dtype("bool"): "BOOL"}
    header, data = {"__metadata__": metadata}, b""
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape),
                        "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def main(path):
    count = BATCH * HEIGHT * WIDTH * 3
    index = np.arange(count, dtype=np.int64)
    image = ((index * 37 + index // 11 * 5 + index // 997 * 13) % 256).astype(np.uint8)
    image = image.reshape(BATCH, HEIGHT, WIDTH, 3)
    states = formula("states", (BATCH, HISTORY + CHUNK, STATE), 1.2)
    actions = formula("actions", (BATCH, CHUNK, ACTION), 1.1)
    valid = np.ones((BATCH, HISTORY + CHUNK), dtype=bool)
    valid[0, :2] = False
    valid[1, HISTORY + 4:] = False
    is_pad = np.zeros((BATCH, CHUNK), dtype=bool)
    is_pad[1, 4:] = True
    drop = formula("drop", (CHUNK, HISTORY), 1.0) > 0.2

    xs, prefix, position = encode(image.astype(np.float64))
    ar = autoregressive(states, valid, drop, prefix)
    fast = parallel(xs[-1], position)
    out = {f"x_{i}": x for i, x in enumerate(xs)}
    out.update({f"key_{i}": k for i, (k, _) in enumerate(prefix)})
    out.update({f"value_{i}": v for i, (_, v) in enumerate(prefix)})
    out.update(states=states, actions=actions, predicted_ar=ar, predicted_fast=fast,
               loss_ar=np.array(losses(ar, actions, is_pad)),
               loss_fast=np.array(losses(fast, actions, is_pad)), position=position)
    out = {name: array.astype(np.float32) for name, array in out.items()}
    out.update(image=image, valid=valid, action_is_pad=is_pad, history_drop=drop)
    spec = dict(camera="observation.images.top", image_height_px=HEIGHT, image_width_px=WIDTH,
                backbone_width=CHANNELS, dim=DIM, num_heads=HEADS, ffn_dim=FFN,
                num_encoder_layers=LAYERS, num_decoder_layers=LAYERS, state_dim=STATE,
                action_dim=ACTION, latent_dim=LATENT, history=HISTORY, chunk=CHUNK,
                test_history=10, vision_interval=6, dropout=0.1, history_mask_probability=0.5)
    write_safetensors(path, out, {"spec": json.dumps(spec)})
    for name in ("x_0", "x_4", "predicted_ar", "predicted_fast", "loss_ar", "loss_fast"):
        print(name, out[name].shape, float(np.abs(out[name]).mean()), out[name].ravel()[:3])


if __name__ == "__main__":
    main(sys.argv[1])
