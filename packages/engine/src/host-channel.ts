import type { OpenedStream, UploadedFile } from '@penstock/connector'
import {
  type BatchStart,
  type ColumnReport,
  type ConfirmArgument,
  type Confirmation,
  type DigestPage,
  type DigestRecords,
  type DivideArgument,
  type DividedPart,
  Ended,
  type EventHost,
  type EventsToPut,
  type FromRunner,
  type HostMethod,
  type IdentityHost,
  type KeyPages,
  type PutHost,
  protocolLimits,
  type RejectedKeysState,
  type RejectHost,
  type ReplayPage,
  type ReportedLine,
  type SecretHost,
  type SecretLease,
  type SecretReference,
  type StageDigestsArgument,
  type ToRunner,
  type TransferHost,
  type TransferState,
  type UploadHost,
} from './protocol.ts'

type Waiting = { resolve(value: unknown): void; reject(error: Error): void }

/** The supervisor of a job, as the runner calls it: each call is a message and waits for its answer. */
export class HostChannel implements TransferHost, SecretHost, IdentityHost, UploadHost, RejectHost, EventHost, PutHost {
  readonly #send: (message: FromRunner) => void
  readonly #waiting = new Map<number, Waiting>()
  #last = 0

  constructor(send: (message: FromRunner) => void) {
    this.#send = send
  }

  /** Hands an answer to the call that waits for it. */
  receive(message: Extract<ToRunner, { type: 'answer' | 'ended' }>): void {
    const waiting = this.#waiting.get(message.id)
    this.#waiting.delete(message.id)
    if (message.type === 'ended') waiting?.reject(new Ended(message.resumes))
    else waiting?.resolve(message.value)
  }

  open = () => this.#call<TransferState>('open', null)
  beginBatch = (batch: BatchStart) => this.#call<void>('beginBatch', batch)
  reportLine = (line: ReportedLine) => this.#call<void>('reportLine', line)
  reportRetry = (error: Parameters<TransferHost['reportRetry']>[0]) => this.#call<void>('reportRetry', error)
  reportColumns = (report: ColumnReport) => this.#call<string | null>('reportColumns', report)
  reportRules = (results: Parameters<TransferHost['reportRules']>[0]) => this.#call<void>('reportRules', results)
  leaseSecret = (secret: SecretReference) => this.#call<SecretLease>('leaseSecret', secret)
  replaceSecret = (replacement: Parameters<SecretHost['replaceSecret']>[0]) =>
    this.#call<string | null>('replaceSecret', replacement)
  releaseSecret = (leaseId: string) => this.#call<void>('releaseSecret', leaseId)
  identityToken = (wanted: Parameters<IdentityHost['identityToken']>[0]) => this.#call<string>('identityToken', wanted)
  findUploads = (query: Parameters<UploadHost['findUploads']>[0]) =>
    this.#call<Awaited<ReturnType<UploadHost['findUploads']>>>('findUploads', query)
  openUpload = (id: string) => this.#call<UploadedFile | null>('openUpload', id)
  readUpload = (piece: Parameters<UploadHost['readUpload']>[0]) => this.#call<string | null>('readUpload', piece)
  findRejecting = (query: Parameters<RejectHost['findRejecting']>[0]) =>
    this.#call<Awaited<ReturnType<RejectHost['findRejecting']>>>('findRejecting', query)
  readRejected = (query: Parameters<RejectHost['readRejected']>[0]) =>
    this.#call<Awaited<ReturnType<RejectHost['readRejected']>>>('readRejected', query)
  openStream = (start: Parameters<EventHost['openStream']>[0]) => this.#call<OpenedStream>('openStream', start)
  readEvents = (after: Parameters<EventHost['readEvents']>[0]) =>
    this.#call<Awaited<ReturnType<EventHost['readEvents']>>>('readEvents', after)
  nextEvents = (put: Parameters<PutHost['nextEvents']>[0]) => this.#call<EventsToPut | null>('nextEvents', put)
  readRejects = (after: number) => this.#call<ReplayPage>('readRejects', after)
  rejectedKeys = () => this.#call<RejectedKeysState>('rejectedKeys', null)
  readDigests = (after: number) => this.#call<DigestPage | null>('readDigests', after)
  readKeys = (after: number) => this.#call<KeyPages | null>('readKeys', after)
  doubtRows = (rows: DigestRecords) => this.#call<void>('doubtRows', rows)

  async replaceDigests(pages: Iterable<DigestRecords> | AsyncIterable<DigestRecords>): Promise<void> {
    let isFirst = true
    for await (const page of pages) {
      await this.#stageDigests({ ...page, of: isFirst ? 'first page' : 'next page' })
      isFirst = false
    }
    // The pages that were sent ahead replace all others.
    await this.#call<void>('replaceDigests', { isEmpty: isFirst })
  }

  #stageDigests = (argument: StageDigestsArgument) => this.#call<void>('stageDigests', argument)

  async confirm({ rejects, outcomes, ...confirmation }: Confirmation, next?: BatchStart): Promise<boolean> {
    const messages = inMessages(
      rejects,
      ({ record, reason, raw }) => record.length + reason.length + (raw?.length ?? 0),
    )
    const last = messages.pop() ?? []
    for (const message of messages) await this.#call<void>('stageRejects', message)
    const pieces = inMessages(outcomes, ({ lines }) => lines.length)
    const lastPieces = pieces.pop() ?? []
    for (const some of pieces) await this.#call<void>('stageOutcomes', some)
    let { digests } = confirmation
    const { messageItemsLengthMax: lengthMax } = protocolLimits
    for (; digests !== null && digests.length > lengthMax; digests = digests.slice(lengthMax)) {
      await this.#stageDigests({ records: digests.slice(0, lengthMax), keys: null, of: 'confirmation' })
    }
    return this.#call<boolean>('confirm', {
      confirmation: { ...confirmation, digests, rejects: last, outcomes: lastPieces },
      next,
    } satisfies ConfirmArgument)
  }

  async divide(parts: readonly DividedPart[], start: BatchStart): Promise<void> {
    const messages = inMessages(parts, (part) => JSON.stringify(part).length)
    const last = messages.pop() ?? []
    for (const message of messages) await this.#call<void>('stageParts', message)
    await this.#call<void>('divide', { parts: last, start } satisfies DivideArgument)
  }

  #call<T>(method: HostMethod, argument: unknown): Promise<T> {
    const id = ++this.#last
    const answer = new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as Waiting['resolve'], reject })
    })
    this.#send({ type: 'call', id, method, argument })
    return answer
  }
}

/** Items in messages of a bounded size. */
function inMessages<Item>(items: readonly Item[], lengthOf: (item: Item) => number): Item[][] {
  const messages: Item[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const item of items) {
    const own = lengthOf(item)
    if (length + own > protocolLimits.messageItemsLengthMax) {
      messages.push([])
      length = 0
    }
    messages.at(-1)?.push(item)
    length += own
  }
  return messages
}
