import assert from 'node:assert/strict'
import { basePath, limits, type OperationId } from '@penstock/wire'
import { type Inbox, makeInbox } from './connections.ts'
import { callerOf } from './fixtures.ts'
import type { HostileRequest } from './hostile-requests.ts'
import { draftOf, makeScene, type Scene } from './scenes.ts'
import { type Organization, startTestService, type TestService } from './service.ts'
import { type Draft, writeJson } from './spoilings.ts'
import { type WatchedRows, watchRows } from './watched-rows.ts'

/** A request in the form in which it is sent. */
export type Sent = { method: string; path: string; headers: Record<string, string>; body?: string | Buffer }

/**
 * How long the process worked until a bystander had an answer: compared with the same while a harmless request with the longest body is
 * answered (`ratio`), and with an answer when nobody else asks (`times`).
 */
export type Weighed = {
  readonly name: string
  readonly ratio: number
  readonly times: number
  readonly status: number
  readonly text: string
}

/** Texts of many keys or lists take longer to parse than an ordinary body, but no text may exceed this ratio. */
const ratioMax = 12
/** How often a request is sent that seems slow: to collect garbage can take as long as fifty answers. */
const triesMax = 5

/** Fails if a request held up the bystander, or failed the service. */
export function assertHarmless(weighed: readonly Weighed[]): void {
  const harmful = weighed.filter(({ ratio, status }) => ratio > ratioMax || status >= 500)
  assert.equal(harmful.length, 0, `\n${worstOf(harmful)}`)
}

/** The requests for which the bystander waited longest, as lines. */
export const worstOf = (weighed: readonly Weighed[]): string =>
  weighed
    .toSorted((a, b) => b.ratio - a.ratio)
    .slice(0, 20)
    .map(
      ({ name, ratio, times, status }) =>
        `${ratio.toFixed(1)} times a harmless text, ${Math.round(times)} times the usual, answered ${status}: ${name}`,
    )
    .join('\n')

/**
 * A service with a hostile organization and a bystander: a person of another organization who makes a small request again and
 * again. The walk compares the processor time of the thread that answers, since clocks depend on what else the machine does.
 */
export class HostileWalk {
  readonly scene: Scene
  readonly organization: Organization
  readonly service: TestService
  readonly #bystander: Organization
  readonly #inbox: Inbox
  readonly #rows: WatchedRows
  #usual = 0
  /** The same while a harmless request with the longest body is answered. */
  #harmless = 0

  private constructor(
    service: TestService,
    inbox: Inbox,
    organization: Organization,
    bystander: Organization,
    scene: Scene,
    rows: WatchedRows,
  ) {
    this.service = service
    this.organization = organization
    this.scene = scene
    this.#inbox = inbox
    this.#bystander = bystander
    this.#rows = rows
  }

  static async begin(): Promise<HostileWalk> {
    const inbox = await makeInbox()
    const service = await startTestService({
      ...inbox.env,
      PENSTOCK_LOG_LEVEL: 'error',
      // Guesses are throttled by their address.
      PENSTOCK_TRUSTED_PROXIES: '127.0.0.1',
    })
    const organization = await service.addOrganization()
    const bystander = await service.addOrganization()
    const caller = callerOf(service, organization)
    const scene = await makeScene(service, caller, inbox.folder)
    const walk = new HostileWalk(service, inbox, organization, bystander, scene, await watchRows(service.database.pool))
    await walk.#learnUsual()
    return walk
  }

  /** A small request of the bystander. @returns the processor time until its answer, in microseconds */
  async #small(): Promise<number> {
    const before = process.threadCpuUsage()
    const headers = { authorization: `Bearer ${this.#bystander.token}` }
    const { status } = await this.service.send({ method: 'GET', path: `${basePath}/accounts?size=1`, headers })
    assert.equal(status, 200)
    const { user, system } = process.threadCpuUsage(before)
    return user + system
  }

  /** Means of many, since Linux counts the time of a thread in ticks of some milliseconds. */
  async #learnUsual(): Promise<void> {
    const mean = async (count: number, measure: () => Promise<number>) => {
      let sum = 0
      for (let n = 0; n < count; n++) sum += await measure()
      return sum / count
    }
    this.#usual = await mean(200, () => this.#small())
    const headers = { authorization: `Bearer ${this.organization.token}`, 'content-type': 'application/json' }
    const sent = {
      method: 'POST',
      path: `${basePath}/accounts`,
      headers,
      body: harmlessBody(limits.bodyBytesMax - 1_000),
    }
    this.#harmless = await mean(50, async () => {
      const { slowest, status } = await this.#slowestDuring(sent)
      assert.equal(status, 400)
      return slowest
    })
    assert(this.#usual > 0 && this.#harmless > this.#usual)
  }

  /** Sends a request while the bystander asks. A slow request is sent again. */
  async weigh(name: string, sent: Sent): Promise<Weighed> {
    let weighed = await this.#weighOnce(name, sent)
    for (let tries = 1; weighed.ratio > ratioMax && tries < triesMax; tries++) {
      const next = await this.#weighOnce(name, sent)
      if (next.ratio < weighed.ratio) weighed = { ...next, status: Math.max(next.status, weighed.status) }
    }
    return weighed
  }

  async #weighOnce(name: string, sent: Sent): Promise<Weighed> {
    const { slowest, status, text } = await this.#slowestDuring(sent)
    const changed = await this.#rows.changed()
    if (changed.length > 0) await this.#rows.restore(changed)
    return { name, ratio: slowest / this.#harmless, times: slowest / this.#usual, status, text }
  }

  async #slowestDuring(sent: Sent): Promise<{ slowest: number; status: number; text: string }> {
    let answered = false
    const answer = this.service.send(sent).finally(() => {
      answered = true
    })
    let slowest = 0
    do slowest = Math.max(slowest, await this.#small())
    while (!answered)
    const { status, text } = await answer
    return { slowest, status, text }
  }

  weighOperation(id: OperationId, { name, put }: HostileRequest): Promise<Weighed> {
    const draft = draftOf(id, this.scene, this.organization)
    put(draft)
    return this.weigh(`${id} ${name}`, requestOf(draft))
  }

  async end(): Promise<void> {
    await this.service.close()
    await this.#inbox.remove()
  }
}

/** A list of small objects, which is read and then refused. */
function harmlessBody(bytes: number): string {
  const entry = '{"id":"k1","name":"Anna","size":12},'
  return `{"name":[${entry.repeat(Math.floor(bytes / entry.length)).slice(0, -1)}]}`
}

function requestOf({ method, path, query, headers, json, bytes }: Draft): Sent {
  const body = bytes ?? (json === undefined ? undefined : writeJson(json))
  const parameters = query.map(([name, value]) => `${name}=${value}`).join('&')
  return {
    method,
    path: `${basePath}${path}${parameters === '' ? '' : `?${parameters}`}`,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  }
}
