import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import { type Change, type Changes, groupMemberships } from '../platform-api/audiences/memberships.ts'
import { NamedAudiences } from '../platform-api/audiences/named-audiences.ts'
import {
  assignAudiences,
  type RowMember,
  readSegmentRows,
  type SegmentRow,
} from '../platform-api/audiences/segment-rows.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { type BatchRow, isSha256 } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { advertiserOf, audienceById, audienceId, audienceNamed, nameMax } from './audience-directory.ts'
import { type FilePerson, type FileType, fileTypeFor, fileTypeOf, uploadFile } from './audience-files.ts'
import { openTikTok } from './business-api.ts'

/** Adds and removes people by files, one to an audience and a batch. The same again makes no difference. */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { state, transferId, columns } = context
  const client = openTikTok(context)
  const advertiser = await advertiserOf(context, client)
  const ownName = `Penstock ${transferId}`
  const making = new FileAudiences(client, advertiser, fileTypeFor(columns))
  const audiences = new NamedAudiences(state, advertiser, ownName, making)
  const options = { nameMax, id: audienceId, identifier: 'email', membersOf: personOf }
  return {
    async deliver(batch) {
      const { rows, rejected } = readSegmentRows(batch, options)
      making.begin(rows, ownName)
      const { memberships } = await assignAudiences(rows, audiences, rejected)
      for (const changes of groupMemberships(memberships)) rejected.push(...(await making.change(changes)))
      return { bytes: making.bytes, rejected, ...audiences.delivered() }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** The audiences of an advertiser that are made of files. An audience is made with a first file, and never empty. */
class FileAudiences {
  readonly #client: PlatformClient
  readonly #advertiser: string
  readonly #newType: FileType
  readonly #types = new Map<string, FileType>()
  /** People whom the batch adds, by the name of the audience. */
  #added = new Map<string, FilePerson[]>()
  /** Audiences that were made of all that the batch adds to them. */
  #made = new Set<string>()
  /** What was sent for the batch. */
  bytes = 0

  constructor(client: PlatformClient, advertiser: string, newType: FileType) {
    this.#client = client
    this.#advertiser = advertiser
    this.#newType = newType
  }

  /** A batch begins, with these rows. */
  begin(rows: readonly SegmentRow<FilePerson>[], ownName: string): void {
    this.#made = new Set()
    this.#added = new Map()
    this.bytes = 0
    // Whom a later row of the batch takes out again is not put in at first.
    const named = rows
      .filter(({ segmentId }) => segmentId === undefined)
      .flatMap(({ index, segmentName = ownName, verb, members }) =>
        members.map((member) => ({ ...member, index, audience: segmentName, verb })),
      )
    for (const { audience, verb, changes } of groupMemberships(named)) {
      if (verb === 'add')
        this.#added.set(
          audience,
          changes.map(({ member }) => member),
        )
    }
  }

  async find(name: string): Promise<string | undefined> {
    const fits = (audience: { isPartner: boolean; calculateType: string }) =>
      !audience.isPartner && fileTypeOf(audience.calculateType) !== undefined
    const audience = await audienceNamed(this.#client, this.#advertiser, name, fits)
    return audience && this.#know(audience)
  }

  async exists(id: string): Promise<boolean> {
    const audience = await audienceById(this.#client, this.#advertiser, id)
    return audience !== undefined && this.#know(audience) !== undefined
  }

  /** Makes an audience of the people whom the batch adds to it. */
  async make(name: string): Promise<string> {
    const lines = (this.#added.get(name) ?? []).flatMap((person) => this.#newType.lineOf(person) ?? [])
    if (lines.length === 0) throw new ConnectorError('invalid_batch', reasonFor(this.#newType))
    const file = await uploadFile(this.#client, this.#advertiser, this.#newType, lines)
    const { json, bytesSent } = await this.#client.askObject({
      path: '/dmp/custom_audience/create/',
      method: 'POST',
      body: {
        advertiser_id: this.#advertiser,
        custom_audience_name: name,
        calculate_type: this.#newType.calculateType,
        file_paths: [file.path],
      },
    })
    this.bytes += file.bytes + bytesSent
    const id = textIn(objectIn(json.data).custom_audience_id)
    if (id === undefined || !audienceId.test(id)) {
      throw new ConnectorError('malformed_response', 'TikTok did not return the ID of the new audience.')
    }
    this.#made.add(id)
    this.#types.set(id, this.#newType)
    return id
  }

  /** Adds people to an audience or removes them, and resolves with the rows of which its files can hold nothing. */
  async change({ audience, verb, changes }: Changes<FilePerson>): Promise<Rejection[]> {
    const type = await this.#typeOf(audience)
    const lines: string[] = []
    const invalid: Change<FilePerson>[] = []
    for (const change of changes) {
      const line = type.lineOf(change.member)
      if (line === undefined) invalid.push(change)
      else lines.push(line)
    }
    const rejected = invalid.flatMap(({ rows, member }) => rows.map((index) => ({ index, ...noneFor(type, member) })))
    const isDone = verb === 'add' && this.#made.has(audience)
    if (lines.length === 0 || isDone) return rejected
    const file = await uploadFile(this.#client, this.#advertiser, type, lines)
    const { bytesSent } = await this.#client.askObject({
      path: '/dmp/custom_audience/update/',
      method: 'POST',
      body: {
        advertiser_id: this.#advertiser,
        custom_audience_id: audience,
        action: verb === 'add' ? 'APPEND' : 'REMOVE',
        file_paths: [file.path],
      },
    })
    this.bytes += file.bytes + bytesSent
    return rejected
  }

  async #typeOf(audience: string): Promise<FileType> {
    const known = this.#types.get(audience)
    if (known) return known
    if (!(await this.exists(audience))) {
      const message = `TikTok knows no audience ${audience} of this advertiser; check the IDs of the audiences.`
      throw new ConnectorError('object_not_found', message)
    }
    const type = this.#types.get(audience)
    if (type) return type
    throw new ConnectorError('not_supported', `The audience ${audience} of TikTok is not based on customer files.`)
  }

  #know({ id, calculateType, isPartner }: { id: string; calculateType: string; isPartner: boolean }): string {
    const type = isPartner ? undefined : fileTypeOf(calculateType)
    if (type) this.#types.set(id, type)
    return id
  }
}

const reasonFor = ({ calculateType }: FileType): string =>
  `The files of this audience hold identifiers of the kind ${calculateType}, and the row has none that fits.`

/** Why a person cannot be in a file, and the column of an identifier that the row has. */
const noneFor = (type: FileType, person: FilePerson): { reason: string; field: string } => ({
  reason: reasonFor(type),
  field: person.maidDigest === undefined ? (Object.keys(person)[0] ?? 'email') : 'maid_sha256',
})

function personOf(row: BatchRow): Read<RowMember<FilePerson>[]> {
  const person: Record<string, string> = {}
  const digests = { email: ['email_sha256', 'email'], phone: ['phone_sha256', 'phone'], maidDigest: ['maid_sha256'] }
  for (const [key, columns] of Object.entries(digests)) {
    const column = columns.find((each) => row.text(each) !== undefined)
    const digest = column === undefined ? undefined : row.text(column)?.toLowerCase()
    if (column === undefined || digest === undefined) continue
    if (!isSha256(digest)) return wrong('The value is not a SHA-256 digest of 64 hexadecimal characters.', column)
    person[key] = digest
  }
  const maid = row.text('maid')?.toLowerCase()
  if (maid !== undefined) {
    if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(maid)) {
      return wrong('The value is not an advertising ID of the form 8-4-4-4-12.', 'maid')
    }
    person.maid = maid
  }
  if (Object.keys(person).length === 0) return { read: [] }
  return { read: [{ identity: JSON.stringify(person), member: person }] }
}
