import { once } from 'node:events'
import { type FileHandle, open, readdir, rename, stat, unlink } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import ssh2, { type Attributes, type AuthContext, type Connection, type SFTPWrapper } from 'ssh2'

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp

/** A server of SFTP 3 as the protocol has it, without any extension, over the files of this machine. */
export type SftpServer = {
  readonly port: number
  /** The status that the server returns for every request to write, instead of writing. */
  writeStatus: number | undefined
  /** Answers reads with fewer bytes than were asked for. */
  readsShort: boolean
  close(): void
}

export type SftpServerOptions = {
  readonly hostKey: string
  readonly username: string
  /** Public keys that may sign in, in the form of `authorized_keys`. */
  readonly keys: readonly string[]
  readonly password?: string
  /** Asks for the password in a dialogue only, as some servers do. */
  readonly dialogue?: boolean
}

export async function startSftpServer(options: SftpServerOptions): Promise<SftpServer> {
  const connections = new Set<Connection>()
  const server = new ssh2.Server({ hostKeys: [options.hostKey] }, (connection) => {
    connections.add(connection)
    connection.on('error', () => {})
    // The types lack what the library has.
    ;(connection as Connection & { setNoDelay(on: boolean): void }).setNoDelay(true)
    connection.on('close', () => connections.delete(connection))
    connection.on('authentication', (context) => authenticate(context, options))
    connection.on('session', (accept) => {
      accept().on('sftp', (acceptSftp) => serveFiles(acceptSftp(), served))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const served: SftpServer = {
    port: (server.address() as AddressInfo).port,
    writeStatus: undefined,
    readsShort: false,
    close() {
      for (const connection of connections) connection.end()
      server.close()
    },
  }
  return served
}

function authenticate(context: AuthContext, { username, keys, password, dialogue }: SftpServerOptions): void {
  const methods: ('publickey' | 'password' | 'keyboard-interactive')[] = ['publickey']
  if (password !== undefined) methods.push(dialogue ? 'keyboard-interactive' : 'password')
  const decide = (good: boolean) => {
    if (good && context.username === username) context.accept()
    else context.reject(methods)
  }
  if (context.method === 'keyboard-interactive' && dialogue) {
    context.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) => decide(answer === password))
  } else if (context.method === 'publickey') {
    const { key, signature, blob, hashAlgo } = context
    const known = keys
      .map((line) => ssh2.utils.parseKey(line))
      .find((each) => !(each instanceof Error) && each.getPublicSSH().equals(key.data))
    // Without a signature, the client only asks whether the key would do.
    const proven = !signature || !blob || (known instanceof Error ? false : known?.verify(blob, signature, hashAlgo))
    decide(known !== undefined && proven === true)
  } else {
    decide(context.method === 'password' && !dialogue && context.password === password)
  }
}

type OpenedFile = { readonly file: FileHandle } | { readonly names: string[]; readonly directory: string }

function serveFiles(sftp: SFTPWrapper, served: SftpServer): void {
  const handles = new Map<number, OpenedFile>()
  let next = 0
  const give = (id: number, opened: OpenedFile) => {
    const handle = Buffer.alloc(4)
    handle.writeUInt32BE(next)
    handles.set(next++, opened)
    sftp.handle(id, handle)
  }
  const fileOf = (handle: Buffer): FileHandle => {
    const opened = handles.get(handle.readUInt32BE())
    if (opened && 'file' in opened) return opened.file
    throw new Error('no such handle')
  }
  /** Answers with the work's result, or with the status that fits its error. */
  const answer = (id: number, work: () => Promise<unknown>) => {
    work().then(
      (result) => {
        if (result === undefined) sftp.status(id, STATUS_CODE.OK)
      },
      (error: NodeJS.ErrnoException) => {
        const known = { ENOENT: STATUS_CODE.NO_SUCH_FILE, EACCES: STATUS_CODE.PERMISSION_DENIED }
        sftp.status(id, known[error.code as keyof typeof known] ?? STATUS_CODE.FAILURE)
      },
    )
  }
  const done = true

  sftp.on('OPEN', (id, path, flags) =>
    answer(id, async () => {
      const mode = flags & OPEN_MODE.TRUNC ? 'w' : flags & OPEN_MODE.WRITE ? 'r+' : 'r'
      give(id, { file: await open(path, mode) })
      return done
    }),
  )
  sftp.on('READ', (id, handle, position, wanted) =>
    answer(id, async () => {
      const length = served.readsShort ? Math.ceil(wanted / 3) : wanted
      const { bytesRead, buffer } = await fileOf(handle).read(Buffer.alloc(length), 0, length, position)
      if (bytesRead === 0) sftp.status(id, STATUS_CODE.EOF)
      else sftp.data(id, buffer.subarray(0, bytesRead))
      return done
    }),
  )
  sftp.on('WRITE', (id, handle, position, bytes) =>
    answer(id, async () => {
      if (served.writeStatus !== undefined) {
        sftp.status(id, served.writeStatus)
        return done
      }
      await fileOf(handle).write(bytes, 0, bytes.length, position)
    }),
  )
  const attributesOf = async (id: number, found: Promise<Attributes & { mtimeMs: number; atimeMs: number }>) => {
    const { mode, uid, gid, size, mtimeMs, atimeMs } = await found
    sftp.attrs(id, { mode, uid, gid, size, mtime: Math.floor(mtimeMs / 1000), atime: Math.floor(atimeMs / 1000) })
    return done
  }
  sftp.on('FSTAT', (id, handle) => answer(id, () => attributesOf(id, fileOf(handle).stat() as never)))
  sftp.on('STAT', (id, path) => answer(id, () => attributesOf(id, stat(path) as never)))
  sftp.on('FSETSTAT', (id, handle, { size }) => answer(id, () => fileOf(handle).truncate(size)))
  sftp.on('CLOSE', (id, handle) =>
    answer(id, async () => {
      const opened = handles.get(handle.readUInt32BE())
      handles.delete(handle.readUInt32BE())
      if (opened && 'file' in opened) await opened.file.close()
    }),
  )
  sftp.on('OPENDIR', (id, path) =>
    answer(id, async () => {
      give(id, { names: await readdir(path), directory: path })
      return done
    }),
  )
  sftp.on('READDIR', (id, handle) =>
    answer(id, async () => {
      const opened = handles.get(handle.readUInt32BE())
      const names = opened && 'names' in opened ? opened.names.splice(0, 2) : []
      if (!opened || !('names' in opened) || names.length === 0) {
        sftp.status(id, STATUS_CODE.EOF)
        return done
      }
      const entries = await Promise.all(
        names.map(async (filename) => {
          const { mode, uid, gid, size, mtimeMs, atimeMs } = await stat(resolve(opened.directory, filename))
          const attrs = { mode, uid, gid, size, mtime: Math.floor(mtimeMs / 1000), atime: Math.floor(atimeMs / 1000) }
          return { filename, longname: filename, attrs }
        }),
      )
      sftp.name(id, entries)
      return done
    }),
  )
  sftp.on('REMOVE', (id, path) => answer(id, () => unlink(path)))
  // Version 3 of the protocol does not rename over what is there.
  sftp.on('RENAME', (id, from, to) =>
    answer(id, async () => {
      if (await stat(to).catch(() => undefined)) throw new Error('it is there')
      await rename(from, to)
    }),
  )
  sftp.on('REALPATH', (id, path) => sftp.name(id, [{ filename: resolve(path), longname: '', attrs: {} as never }]))
  sftp.on('close', () => {
    for (const opened of handles.values()) if ('file' in opened) opened.file.close().catch(() => {})
    handles.clear()
  })
}
