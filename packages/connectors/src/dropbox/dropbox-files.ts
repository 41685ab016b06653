import { ConnectorError } from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import { discard } from '../object-stores/answers.ts'
import { fileOf, filesOfPages, type ListingPage } from '../object-stores/listing.ts'
import { beginsAt, type ObjectStore, rangeIgnored, sourceChanged } from '../object-stores/object-store.ts'
import { type JsonObject, listIn, numberIn, objectIn, parseObject, textIn } from '../platform-api/json.ts'
import { cursorIn } from '../platform-api/next-page.ts'
import { type DropboxClient, failedWith } from './dropbox-client.ts'
import { dropboxPath } from './paths.ts'

const store = 'Dropbox'

/** Requested entries of a page. Dropbox can return a few more. */
const entriesAsked = 500

/** Reading a Dropbox. Its names are without a slash at the beginning, and compared without regard to case. */
export function dropboxFiles(client: DropboxClient): ObjectStore {
  return {
    top: 'the top of the Dropbox',
    list: (prefix) => filesOfPages(store, (cursor) => listPage(client, prefix, cursor)),
    page: (prefix, cursor, entriesMax) => listPage(client, prefix, cursor || undefined, entriesMax),
    async find(name) {
      try {
        const { json } = await client.ask('files/get_metadata', { path: dropboxPath(name) }, { repeatable: true })
        return json['.tag'] === 'file' ? describedFile(name, json) : undefined
      } catch (error) {
        if (failedWith(error, 'source_changed')) return undefined
        throw error
      }
    },
    async get(file, fromByte) {
      let response: Response
      try {
        response = await client.download(dropboxPath(file.name), fromByte)
      } catch (error) {
        throw failedWith(error, 'source_changed') ? sourceChanged(file.name) : error
      }
      const { rev } = parseObject(response.headers.get('dropbox-api-result') ?? '')
      if (rev === file.version && beginsAt(response, fromByte)) return response
      await discard(response)
      throw rev === file.version ? rangeIgnored(store) : sourceChanged(file.name)
    },
  }
}

/** An entry as a file. Throws if it is described as what cannot be one. */
const describedFile = (name: string, { size, rev }: JsonObject): StoredFile =>
  fileOf(store, { name, sizeBytes: numberIn(size) ?? Number.NaN, version: textIn(rev) ?? '' })

/** Some entries whose names begin with a prefix, and the cursor of the next ones. */
async function listPage(
  client: DropboxClient,
  prefix: string,
  cursor: string | undefined,
  entriesMax: number = entriesAsked,
): Promise<ListingPage> {
  const at = prefix.lastIndexOf('/') + 1
  const [folder, leaf] = [prefix.slice(0, at), prefix.slice(at)]
  const first = {
    path: dropboxPath(folder),
    limit: Math.min(entriesMax, entriesAsked),
    include_non_downloadable_files: false,
  }
  let json: JsonObject
  try {
    const answer =
      cursor === undefined
        ? await client.ask('files/list_folder', first, { repeatable: true })
        : await client.ask('files/list_folder/continue', { cursor }, { repeatable: true })
    json = answer.json
  } catch (error) {
    if (failedWith(error, 'source_changed')) return { files: [], folders: [], next: undefined }
    throw error
  }
  if (!Array.isArray(json.entries)) {
    throw new ConnectorError('malformed_response', `${store} answered with something other than a listing.`)
  }
  const files: StoredFile[] = []
  const folders: string[] = []
  for (const each of listIn(json.entries)) {
    const entry = objectIn(each)
    const own = textIn(entry.name) ?? ''
    if (!own.toLowerCase().startsWith(leaf.toLowerCase())) continue
    // The requested part keeps its case, so that a name in another case is found.
    const name = `${prefix}${own.slice(leaf.length)}`
    if (entry['.tag'] === 'folder') folders.push(`${folder}${own}/`)
    else if (entry['.tag'] === 'file' && entry.is_downloadable !== false) files.push(describedFile(name, entry))
  }
  return { files, folders, next: json.has_more === true ? cursorIn(json.cursor ?? '', store) : undefined }
}
