import { crc32, deflateRawSync } from 'node:zlib'

/**
 * A ZIP archive with one file, as platforms pack reports.
 * @param streamed whether its sizes are behind its content, as a program writes them that does not know them before
 */
export function zipOf(name: string, content: string, streamed = false): Uint8Array {
  const packed = deflateRawSync(content)
  const sizes = Buffer.alloc(12)
  sizes.writeUInt32LE(crc32(content), 0)
  sizes.writeUInt32LE(packed.length, 4)
  sizes.writeUInt32LE(Buffer.byteLength(content), 8)
  const head = Buffer.alloc(30)
  head.writeUInt32LE(0x04034b50, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt16LE(streamed ? 8 : 0, 6)
  head.writeUInt16LE(8, 8)
  if (!streamed) sizes.copy(head, 14)
  head.writeUInt16LE(Buffer.byteLength(name), 26)
  const behind = streamed ? Buffer.concat([Buffer.from('PK\x07\x08', 'latin1'), sizes]) : Buffer.alloc(0)
  const file = Buffer.concat([head, Buffer.from(name), packed, behind])
  const entry = Buffer.alloc(46)
  entry.writeUInt32LE(0x02014b50, 0)
  entry.writeUInt16LE(streamed ? 8 : 0, 8)
  entry.writeUInt16LE(8, 10)
  sizes.copy(entry, 16)
  entry.writeUInt16LE(Buffer.byteLength(name), 28)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(entry.length + Buffer.byteLength(name), 12)
  end.writeUInt32LE(file.length, 16)
  return Buffer.concat([file, entry, Buffer.from(name), end])
}
