import { fileStore } from '../object-stores/file-store.ts'
import { openDropbox } from './dropbox-client.ts'
import { dropboxFiles } from './dropbox-files.ts'
import { dropboxSink } from './dropbox-sink.ts'
import { pathIn } from './paths.ts'

export const { open, write, discover, discoverColumns, discoverWorkbook } = fileStore({
  reads: { setting: 'path', label: 'The path' },
  scheme: '',
  client(context, path) {
    const client = openDropbox(context)
    return { client, objects: dropboxFiles(client), path: pathIn(path), addressOf: (name) => `/${name}` }
  },
  sink: ({ client }, { name, ownName: abortedName, transferId, startedTime }) =>
    dropboxSink(client, { name, abortedName, transferId, startedTime }),
})
