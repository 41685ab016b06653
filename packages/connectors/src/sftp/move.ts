import {
  type Check,
  type ConnectorContext,
  checkSteps,
  cursorsOf,
  type Delivery,
  type DestinationContext,
  type DestinationWriter,
  type Inspect,
  inspectBy,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import {
  type FileSink,
  type FileStore,
  fileNameOf,
  type PlatformFormat,
  readFiles,
  readOptionsOf,
  type WriteOptions,
  writeFiles,
  writeOptionsOf,
} from '@penstock/connector/files'
import { fileReading } from '../object-stores/file-store.ts'
import { hostKeyOf } from './host-key.ts'
import { kindOf, realPath, stat } from './requests.ts'
import { openSession } from './session.ts'
import { noDirectory, openSftpSink } from './sink.ts'
import { openSftpStore } from './store.ts'

export async function open(context: SourceContext): Promise<SourceReader> {
  const hostKey = hostKeyOf(context.secrets, cursorsOf(context.cursor)[0])
  const options = readOptionsOf(context.settings)
  const reader = await readFiles(context, storeOf(context, hostKey), options)
  return {
    ...reader,
    async *read(after) {
      for await (const chunk of reader.read(after)) {
        // The key of the server is kept for the next transfer. If the connection reads only new files, so are the files that
        // were read.
        if (hostKey.state === undefined || (options.onlyNew && chunk.cursor === undefined)) yield chunk
        else if (options.onlyNew)
          yield { ...chunk, cursor: { ...hostKey.state, ...(chunk.cursor as object | undefined) } }
        else yield { ...chunk, cursor: hostKey.state, readsAll: true }
      }
    },
  }
}

export const { discoverColumns, discoverWorkbook } = fileReading((context) =>
  storeOf(context, hostKeyOf(context.secrets)),
)

function storeOf(
  context: ConnectorContext & Pick<SourceContext, 'sample'>,
  hostKey: ReturnType<typeof hostKeyOf>,
): FileStore {
  const { path = '', pattern } = context.settings
  return openSftpStore(context, String(path), pattern === undefined ? undefined : String(pattern), hostKey)
}

export const write = (context: DestinationContext): Promise<DestinationWriter> =>
  writeTo(context, {
    path: String(context.settings.path),
    fileName: (extension) => fileNameOf(context, extension),
    options: writeOptionsOf(context.settings),
  })

/** Which file a transfer writes on a server. */
export type SftpFile = {
  /** The directory. */
  readonly path: string
  readonly fileName: (extension: string) => string
  readonly options: WriteOptions | PlatformFormat
  /** The result of a transfer without rows. By default a file without rows. */
  readonly ifEmpty?: 'no file'
}

/** Opens a writer of one file of a server. */
export async function writeTo(
  context: DestinationContext,
  { path, fileName, options, ifEmpty }: SftpFile,
): Promise<DestinationWriter> {
  const hostKey = hostKeyOf(context.secrets, context.state)
  const openSink = (extension: string): FileSink => {
    const sink = openSftpSink(context, path, fileName(extension), hostKey)
    if (ifEmpty === undefined) return sink
    return { ...sink, publish: async (states) => (states.length > 0 ? sink.publish(states) : undefined) }
  }
  const writer = await writeFiles(context, openSink, options)
  const withState = <Answer extends Delivery | undefined>(answer: Answer): Answer =>
    answer === undefined || hostKey.state === undefined ? answer : { ...answer, state: hostKey.state }
  return {
    ...writer,
    deliver: async (batch) => withState(await writer.deliver(batch)),
    flush: async () => withState(await writer.flush?.()),
  }
}

/** Signs in, and requests the user's directory, which every user can read. */
export const check: Check = checkSteps([
  'authentication',
  async (context) => {
    const hostKey = hostKeyOf(context.secrets)
    const session = await openSession(context, hostKey)
    try {
      return `The user is let in, and begins in ${await realPath(session, '.')}. The host key is ${hostKey.seen}.`
    } finally {
      session.close()
    }
  },
])

/** Checks whether the directory in the settings exists. Only writing shows whether it is writable. */
export const inspect: Inspect = inspectBy(async (context) => {
  const path = String(context.settings.path)
  const session = await openSession(context, hostKeyOf(context.secrets))
  try {
    if (kindOf(await stat(session, path)) === 'directory') return
    throw noDirectory(path)
  } finally {
    session.close()
  }
})
