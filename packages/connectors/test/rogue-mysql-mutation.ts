import { numbersFrom } from './random.ts'
import { bytesOf, header, type RogueMysqlScript } from './rogue-mysql.ts'
import { frame } from './rogue-mysql-conversation.ts'

/** A script that changes one packet of each connection: which one and how follows from the seed. */
export function rogueMysqlMutation(seed: number): RogueMysqlScript {
  const random = numbersFrom(seed)
  const index = random(30)
  const kind = random(7)
  const [a, b, c] = [random(1 << 24), random(256), random(1 << 24)]
  return {
    name: `mutation ${seed}: packet ${index}, change ${kind}`,
    act(packet) {
      if (packet.index !== index) return undefined
      const { payload, sequence } = packet
      const at = payload.length === 0 ? 0 : a % payload.length
      const changed = Buffer.from(payload)
      switch (kind) {
        case 0:
          changed[at] = (changed[at] ?? 0) ^ (b | 1)
          return { bytes: frame(changed, sequence) }
        case 1:
          return { bytes: frame(changed.subarray(0, at), sequence) }
        case 2:
          return { bytes: frame(bytesOf(changed.subarray(0, at), [b], changed.subarray(at)), sequence) }
        case 3:
          return { bytes: bytesOf(header(c, sequence), payload) }
        case 4:
          return { bytes: frame(payload, b) }
        case 5:
          return { bytes: bytesOf(frame(payload, sequence), frame(payload, (sequence + 1) % 256)) }
        default:
          return { bytes: frame(Buffer.alloc(at + 1, b), sequence) }
      }
    },
  }
}
