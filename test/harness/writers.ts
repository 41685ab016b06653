import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Connection } from '@penstock/wire'
import { destination, source, sourceSecrets } from './fixtures.ts'
import { type HttpCall, http } from './process.ts'

/**
 * Writers that keep a service busy and record what it acknowledged. While a write is active, both the state before it and the
 * state after it can be found later. After it is acknowledged, only the latter can.
 */
export type Record = {
  /** Names of the accounts, by their identifiers. */
  readonly accounts: Map<string, string>
  /** The statuses that a connection can be found in, by its account and its own identifier. */
  readonly connections: Map<string, { accountId: string; statuses: readonly (string | undefined)[] }>
  /** The values that the source's secret can have, by account. Undefined means that it is not set. */
  readonly secrets: Map<string, readonly (string | undefined)[]>
  /** Creates of accounts that were sent, by their Idempotency-Key, which is the account's name. */
  readonly keys: Set<string>
  acknowledged: number
}

export const emptyRecord = (): Record => ({
  accounts: new Map(),
  connections: new Map(),
  secrets: new Map(),
  keys: new Set(),
  acknowledged: 0,
})

export type Writers = {
  /** Resolves when each writer has seen its connection break. Rejects if a write was refused. */
  readonly done: Promise<unknown>
}

/** Starts writers, which write until the service is gone. */
export function startWriters(url: string, token: string, record: Record, count = 4): Writers {
  return { done: Promise.all(Array.from({ length: count }, () => write(url, token, record))) }
}

async function write(url: string, token: string, record: Record): Promise<void> {
  /** The payload of an acknowledged write, or undefined where the service is gone. */
  const send = async <T>(path: string, call: HttpCall): Promise<T | undefined> => {
    const reply = await http(url, path, { token, ...call }).catch(() => undefined)
    if (!reply) return undefined
    assert(reply.status < 300, `${path}: ${reply.text}`)
    record.acknowledged++
    return reply.response as T
  }
  for (;;) {
    const name = `account ${randomBytes(6).toString('hex')}`
    record.keys.add(name)
    const account = await createAccount(url, token, name)
    if (!account) return
    record.acknowledged++
    record.accounts.set(account.id, name)
    const at = `?accountId=${account.id}`

    const connectorIds = [source.id, destination.id]
    if (!(await send(`/connectors${at}`, { method: 'POST', body: { connectorIds } }))) return
    record.secrets.set(account.id, [undefined])
    for (const secretAccessKey of [randomBytes(8).toString('hex'), randomBytes(8).toString('hex')]) {
      const body = { secretConfig: { ...sourceSecrets, secretAccessKey } }
      record.secrets.set(account.id, [...(record.secrets.get(account.id) ?? []), secretAccessKey])
      if (!(await send(`/connectors/${source.id}/configuration${at}`, { method: 'PUT', body }))) return
      record.secrets.set(account.id, [secretAccessKey])
    }

    const body = { name, srcConnectorId: source.id, destConnectorId: destination.id }
    const created = await send<Connection>(`/connections${at}`, { method: 'POST', body })
    if (!created) return
    let status: string = created.status
    const steps = [
      ['PUT', '/status', { action: 'disable' }, 'disabled'],
      ['PUT', '/status', { action: 'enable' }, 'In-progress'],
      ['DELETE', '', undefined, 'deleted'],
      ['POST', '/restore', undefined, 'disabled'],
    ] as const
    record.connections.set(created.id, { accountId: account.id, statuses: [status] })
    for (const [method, path, change, next] of steps) {
      record.connections.set(created.id, { accountId: account.id, statuses: [status, next] })
      if (!(await send(`/connections/${created.id}${path}${at}`, { method, ...(change ? { body: change } : {}) })))
        return
      status = next
      record.connections.set(created.id, { accountId: account.id, statuses: [status] })
    }
  }
}

/** Creates an account whose name is also its Idempotency-Key. Undefined if the service is gone. */
export async function createAccount(url: string, token: string, name: string): Promise<{ id: string } | undefined> {
  const headers = { 'idempotency-key': name }
  const reply = await http(url, '/accounts', { method: 'POST', token, headers, body: { name } }).catch(() => undefined)
  if (!reply) return undefined
  assert.equal(reply.status, 201, reply.text)
  return reply.response as { id: string }
}
