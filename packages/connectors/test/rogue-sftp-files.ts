/** The response that an honest server of SFTP 3 would send at this point. */
export type Stage =
  | 'version'
  | 'realpath'
  | 'stat'
  | 'fstat'
  | 'opendir'
  | 'readdir'
  | 'readdir-end'
  | 'open'
  | 'read'
  | 'read-end'
  | 'write'
  | 'status'

export type SftpLine = {
  /** Sends an answer, type and all, or something else instead. */
  readonly send: (stage: Stage, answer: Buffer) => unknown
}

export const u32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(number >>> 0)
  return bytes
}
export const string = (content: string | Buffer): Buffer => {
  const bytes = Buffer.from(content)
  return Buffer.concat([u32(bytes.length), bytes])
}
export const packet = (content: Buffer): Buffer => Buffer.concat([u32(content.length), content])

const modes = { file: 0o100644, directory: 0o040755, link: 0o120777 }

export function attributes(size: bigint, kind: keyof typeof modes): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(size)
  return Buffer.concat([u32(0x0d), bytes, u32(modes[kind]), u32(1), u32(1_700_000_000)])
}

export const answer = (type: number, id: Buffer, ...rest: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from([type]), id, ...rest])
export const status = (id: Buffer, code: number, text = 'canary of a message'): Buffer =>
  answer(101, id, u32(code), string(text), string('en'))
export const names = (id: Buffer, ...entries: (readonly [name: string | Buffer, attributes: Buffer])[]): Buffer =>
  answer(104, id, u32(entries.length), ...entries.flatMap(([name, found]) => [string(name), string(''), found]))

export const rogueFile = 'id,name\n1,a\n2,b\n'

/** Answers requests as an honest server does that has the directories /in, with one file in it, and /out. */
export function serveRogueFiles(line: SftpLine): (bytes: Buffer) => void {
  let held = Buffer.alloc(0)
  let listed = false
  let written = 0n
  const sizeOf = (path: string) => (path.startsWith('/out') ? written : BigInt(rogueFile.length))
  let handled = ''
  const take = (request: Buffer): unknown => {
    const id = request.subarray(1, 5)
    const length = request.length >= 9 ? request.readUInt32BE(5) : 0
    const path = request.subarray(9, 9 + length).toString()
    const rest = request.subarray(9 + length)
    switch (request[0]) {
      case 1:
        return line.send('version', Buffer.concat([Buffer.from([2]), u32(3)]))
      case 3:
        handled = path
        return line.send('open', answer(102, id, string('file')))
      case 5: {
        const from = Number(rest.readBigUInt64BE(0))
        const bytes = Buffer.from(rogueFile).subarray(from, from + rest.readUInt32BE(8))
        if (bytes.length === 0) return line.send('read-end', status(id, 1))
        return line.send('read', answer(103, id, string(bytes)))
      }
      case 6: {
        const end = rest.readBigUInt64BE(0) + BigInt(rest.readUInt32BE(8))
        if (end > written) written = end
        return line.send('write', status(id, 0))
      }
      case 8:
        return line.send('fstat', answer(105, id, attributes(sizeOf(handled), 'file')))
      case 11:
        return line.send('opendir', answer(102, id, string('directory')))
      case 12:
        if (listed) return line.send('readdir-end', status(id, 1))
        listed = true
        return line.send('readdir', names(id, ['a.csv', attributes(BigInt(rogueFile.length), 'file')]))
      case 16:
        return line.send('realpath', names(id, ['/home/ada', attributes(0n, 'directory')]))
      case 17:
        return line.send(
          'stat',
          answer(105, id, path.includes('.') ? attributes(sizeOf(path), 'file') : attributes(0n, 'directory')),
        )
      default:
        return line.send('status', status(id, 0))
    }
  }
  return (bytes) => {
    held = Buffer.concat([held, bytes])
    while (held.length >= 4) {
      const length = held.readUInt32BE(0)
      if (held.length < 4 + length) return
      const request = held.subarray(4, 4 + length)
      held = held.subarray(4 + length)
      take(request)
    }
  }
}
