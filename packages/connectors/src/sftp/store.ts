import { type ConnectorContext, ConnectorError, type SourceContext } from '@penstock/connector'
import { type FileStore, nameMatcher, type StoredFile } from '@penstock/connector/files'
import type { HostKey } from './host-key.ts'
import { isMissing, isRefusal } from './problems.ts'
import {
  type Attributes,
  attributesOf,
  checkAttributes,
  closeFile,
  kindOf,
  listEntries,
  openFile,
  readBytes,
  stat,
} from './requests.ts'
import { makeSessions, type SftpSession } from './session.ts'

/** The files under a path of a server: that file, or those right in that directory whose names fit the pattern. */
export function openSftpStore(
  context: ConnectorContext & Pick<SourceContext, 'sample'>,
  path: string,
  pattern: string | undefined,
  hostKey: HostKey,
): FileStore {
  const sessions = makeSessions(context, hostKey, context.sample?.noAnswerMs)
  return {
    async list() {
      const session = await sessions.open()
      const attributes = await stat(session, path)
      if (kindOf(attributes) !== 'directory') return [storedFile(path, attributes)]
      const found = await listDirectory(session, path, pattern)
      if (found.length > 0) return found
      const which = pattern === undefined ? 'file' : `file that fits ${pattern}`
      throw new ConnectorError('object_not_found', `There is no ${which} in ${path}.`)
    },

    async *read(file, fromByte) {
      const session = await sessions.open()
      const { name, sizeBytes } = file
      const handle = await openFile(session, name, 'r').catch((error: unknown) => {
        throw isMissing(error) ? changed(name) : error
      })
      try {
        const assertSame = async () => {
          if (versionOf(await attributesOf(session, name, handle)) !== file.version) throw changed(name)
        }
        await assertSame()
        let at = fromByte
        for await (const bytes of readBytes(session, name, handle, fromByte, sizeBytes)) {
          at += bytes.length
          yield bytes
        }
        await assertSame()
        if (at !== sizeBytes) throw changed(name)
      } finally {
        if (session.alive) closeFile(session, name, handle).catch(() => {})
      }
    },

    async close() {
      sessions.close()
    },
  }
}

async function listDirectory(session: SftpSession, path: string, pattern: string | undefined): Promise<StoredFile[]> {
  const fits = pattern === undefined ? () => true : nameMatcher(pattern, { question: true })
  const files: StoredFile[] = []
  for await (const entry of listEntries(session, path)) {
    // Hidden files are skipped, because many programs hide unfinished files in this way.
    if (entry.name.startsWith('.') || !fits(entry.name)) continue
    const name = join(path, entry.name)
    const isLink = kindOf(entry.attributes) === 'link'
    const attributes = isLink ? await statLink(session, name) : entry.attributes
    if (attributes && kindOf(attributes) === 'file') {
      files.push(storedFile(name, checkAttributes(session, attributes)))
    }
  }
  return files
}

/** The target of a link. `undefined` if the link is broken, circular, or leads to a path without access. */
const statLink = (session: SftpSession, path: string): Promise<Attributes | undefined> =>
  stat(session, path).catch((error: unknown) => {
    if (session.alive && isRefusal(error)) return undefined
    throw error
  })

/** A path in a directory. */
export const join = (directory: string, name: string): string => `${directory.replace(/\/+$/, '')}/${name}`

const storedFile = (name: string, attributes: Attributes): StoredFile => ({
  name,
  sizeBytes: attributes.size,
  version: versionOf(attributes),
})

const versionOf = ({ mtime, size }: Attributes): string => `${mtime} ${size}`

const changed = (name: string): ConnectorError =>
  new ConnectorError('source_changed', `${name} changed while it was being read; start the transfer again.`)
