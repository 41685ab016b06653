import { createHash } from 'node:crypto'
import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { AudienceTarget, SendPeople } from '../kit/audience-facts.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { audienceIn, oneAudience } from './audience-lists.ts'
import { type FileType, fileTypeFor, fileTypeOf } from './file-types.ts'

/** Makes what sends people to TikTok by a file: one of which an audience is made, is added to it, or is removed from it. */
export function fileSender(client: PlatformClient, { columns }: DestinationContext): SendPeople {
  const newType = fileTypeFor(columns)
  /** File types by audience ID. TikTok may not list a new one yet. */
  const types = new Map<string, FileType>()

  async function typeOf({ account, audience }: AudienceTarget): Promise<FileType> {
    const found = audienceIn(await client.askObject(oneAudience(account, audience)), audience)
    if (!found) {
      const message = `TikTok knows no audience ${audience} of this advertiser; check the IDs of the audiences.`
      throw new ConnectorError('object_not_found', message)
    }
    const type = fileTypeOf(found)
    if (type) return type
    throw new ConnectorError('not_supported', `The audience ${audience} of TikTok is not based on customer files.`)
  }

  return async (people, to) => {
    const { account, audience, name, verb } = to
    const type = audience === '' ? newType : (types.get(audience) ?? (await typeOf(to)))
    if (audience !== '') types.set(audience, type)
    const reason = `The files of this audience hold identifiers of the kind ${type.calculateType}, and the row has none that fits.`
    const lines = people.map(type.lineOf)
    const blamed = people.flatMap(({ maid_sha256: device, ...others }, at) =>
      lines[at] === undefined
        ? [{ at, reason, field: device === undefined ? (Object.keys(others)[0] ?? 'email') : 'maid_sha256' }]
        : [],
    )
    if (blamed.length === people.length) return { bytes: 0, blamed, missed: [] }
    const file = await upload(
      client,
      account,
      type,
      lines.filter((line) => line !== undefined),
    )
    const [path, change] =
      audience === ''
        ? ['create', { custom_audience_name: name, calculate_type: type.calculateType }]
        : ['update', { custom_audience_id: audience, action: verb === 'add' ? 'APPEND' : 'REMOVE' }]
    const { json, bytesSent } = await client.askObject({
      path: `/dmp/custom_audience/${path}/`,
      method: 'POST',
      body: { advertiser_id: account, ...change, file_paths: [file.path] },
    })
    const made = textIn(objectIn(json.data).custom_audience_id)
    if (made !== undefined) types.set(made, type)
    return { bytes: file.bytes + bytesSent, blamed, missed: [], made }
  }
}

/** Uploads a file and resolves with the path by which audiences refer to it. */
async function upload(
  client: PlatformClient,
  advertiser: string,
  { calculateType, header }: FileType,
  lines: readonly string[],
): Promise<{ path: string; bytes: number }> {
  const content = `${[...(header === undefined ? [] : [header]), ...lines].join('\n')}\n`
  const signature = createHash('md5').update(content).digest('hex')
  const { json, bytesSent } = await client.askObject({
    path: '/dmp/custom_audience/file/upload/',
    method: 'POST',
    parts: [
      { name: 'advertiser_id', content: advertiser },
      { name: 'calculate_type', content: calculateType },
      { name: 'file_signature', content: signature },
      { name: 'file', content, fileName: `penstock-${signature}.csv`, type: 'text/csv' },
    ],
  })
  const path = textIn(objectIn(json.data).file_path)
  if (path !== undefined) return { path, bytes: bytesSent }
  throw new ConnectorError('malformed_response', 'TikTok did not return the path of the file.')
}
