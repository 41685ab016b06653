import { connectors, isStoredInKafka } from '@penstock/connectors'
import type { Db } from '../../db/database.ts'
import type { Logger } from '../../log.ts'
import { refuse } from '../../refusal.ts'
import type { Runners } from '../../runners/runner-pool.ts'
import type { Keyring } from '../../secrets/keyring.ts'
import { openSecrets } from '../../secrets/secrets.ts'
import { eventBounds } from '../bounds.ts'
import type { FoundStream } from '../find-streams.ts'
import * as queries from '../queries.ts'
import { InProgress } from '../walls.ts'
import { type NotTaken, type TopicEvent, TopicFailure, TopicWriter } from './topic-writer.ts'

/** The streams of this process that store their events in Apache Kafka. */

/** Streams whose last failure is remembered. */
const rememberedMax = 2_000
const busySeconds = 1

type WriterDeps = {
  readonly database: Db
  readonly keyring: Keyring
  readonly runners: Runners
  readonly log: Logger
  /** Streams that have a runner at the same time. */
  readonly topicsMax: number
}

const slugs = new Map(connectors.map(({ id, slug }) => [id, slug]))

/** Whether events of a stream are put on a topic. */
export const putsOnTopic = ({ settings }: Pick<FoundStream, 'settings'>): boolean => isStoredInKafka(settings)

export class TopicWriters {
  readonly #deps: WriterDeps
  /** By stream. Another version of the configuration has another writer. */
  readonly #writers = new Map<string, { readonly version: number; readonly writer: TopicWriter }>()
  readonly #inProgress = new InProgress(eventBounds.toTopics)
  readonly #retiring = new Set<Promise<void>>()

  constructor(deps: WriterDeps) {
    this.#deps = deps
  }

  /** Refuses with `topic_unavailable` while the topic of a stream fails. @param explains as for `put` */
  check({ id, version }: FoundStream, explains: boolean): void {
    const known = this.#writers.get(id)
    try {
      if (known?.version === version) known.writer.requireOpen()
    } catch (error) {
      refuseFailing(error, explains)
    }
  }

  /**
   * Sends events to the topic of a stream. Refuses with `topic_unavailable` if it is not known that the brokers have all of
   * them, and with `overloaded` if too much is in flight.
   * @param explains whether the refusal says why, for people who can see the configuration
   * @returns the events that the topic does not accept
   */
  async put(stream: FoundStream, events: readonly TopicEvent[], explains: boolean): Promise<readonly NotTaken[]> {
    const bytes = events.reduce((sum, { json }) => sum + json.length, 0)
    const names = [`stream ${stream.id}`, `account ${stream.accountId}`]
    const giveBack = this.#inProgress.take(names, Math.max(eventBounds.request, bytes))
    try {
      const writer = this.#writerOf(stream)
      writer.requireOpen()
      return await writer.put(events)
    } catch (error) {
      return refuseFailing(error, explains)
    } finally {
      giveBack()
    }
  }

  /** Resolves once nothing waits, and all jobs have ended. */
  async close(): Promise<void> {
    for (const { writer } of this.#writers.values()) this.#retire(writer)
    this.#writers.clear()
    await Promise.all(this.#retiring)
  }

  #writerOf(stream: FoundStream): TopicWriter {
    const { id, accountId, version } = stream
    const known = this.#writers.get(id)
    if (known?.version === version) {
      if (!known.writer.isActive) this.#requireSlot(accountId)
      return known.writer
    }
    if (known) this.#retire(known.writer)
    this.#writers.delete(id)
    this.#requireSlot(accountId)
    const writer = new TopicWriter(this.#deps, { streamId: id, accountId, open: () => this.#open(stream) })
    this.#writers.set(id, { version, writer })
    for (const [other, { writer }] of this.#writers) {
      if (this.#writers.size <= rememberedMax) break
      if (!writer.isActive) this.#writers.delete(other)
    }
    return writer
  }

  /**
   * Frees a slot for the runner of a stream. Refuses with `overloaded` if all other runners are busy. A sub-account can use
   * half of the slots.
   */
  #requireSlot(accountId: string): void {
    const active = [...this.#writers].filter(([, { writer }]) => writer.isActive)
    const own = active.filter(([, { writer }]) => writer.accountId === accountId)
    const { topicsMax } = this.#deps
    const isOwnFull = own.length >= Math.max(1, Math.floor(topicsMax / 2))
    if (!isOwnFull && active.length < topicsMax) return
    const idle = (isOwnFull ? own : active).find(([, { writer }]) => writer.isIdle)
    if (!idle) {
      const message = 'too many streams put events on topics: retry. PENSTOCK_STREAM_TOPICS sets how many can'
      refuse('overloaded', [{ field: 'stream', message }], busySeconds)
    }
    const [id, { writer }] = idle
    this.#writers.delete(id)
    this.#retire(writer)
  }

  #retire(writer: TopicWriter): void {
    const retired = writer.retire().finally(() => this.#retiring.delete(retired))
    this.#retiring.add(retired)
  }

  /** Secrets never go to brokers of another version of the configuration. */
  async #open({ id, accountId, connectorId, settings, version }: FoundStream) {
    const { database, keyring } = this.#deps
    const secrets = await openSecrets(database, keyring, { accountId, connectorId, configurationId: id })
    const now = await queries.findStream.first(database, { id })
    if (now?.version !== version) throw new TopicFailure('settings_changed', 'The configuration was changed.', 0)
    return {
      slug: slugs.get(connectorId) ?? '',
      configurationId: id,
      secrets: { ...settings, ...secrets },
      settings: {},
    }
  }
}

const unacknowledged = 'the brokers did not acknowledge the events: send them again'

function refuseFailing(error: unknown, explains: boolean): never {
  if (!(error instanceof TopicFailure)) throw error
  const message = explains ? error.message : unacknowledged
  return refuse('topic_unavailable', [{ field: 'stream', message }], error.retryAfterSeconds)
}
