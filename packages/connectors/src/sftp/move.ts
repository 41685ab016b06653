import {
  type Check,
  checkSteps,
  type DestinationContext,
  type DestinationWriter,
  type SourceContext,
  type SourceReader,
} from '@penstock/connector'
import { fileNameOf, readFiles, readOptionsOf, writeFiles, writeOptionsOf } from '@penstock/connector/files'
import { openSession } from './session.ts'
import { openSftpSink } from './sink.ts'
import { openSftpStore } from './store.ts'

export function read(context: SourceContext): Promise<SourceReader> {
  const { path, pattern } = context.settings
  const store = openSftpStore(context, String(path), pattern === undefined ? undefined : String(pattern))
  return readFiles(context, store, readOptionsOf(context.settings))
}

export function write(context: DestinationContext): Promise<DestinationWriter> {
  const { settings } = context
  return writeFiles(
    context,
    (extension) => openSftpSink(context, String(settings.path), fileNameOf(context, extension)),
    writeOptionsOf(settings),
  )
}

/** Signs in, and asks where the user stands, which every user may know. */
export const check: Check = checkSteps([
  'sign in',
  async (context) => {
    const session = await openSession(context)
    try {
      const path = await session.call<string>('the directory of the user', (sftp, done) => sftp.realpath('.', done))
      return `The user is let in, and begins in ${path}.`
    } finally {
      session.close()
    }
  },
])
