import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Values } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { runJob } from '../packages/engine/src/jobs.ts'
import fc from './harness/property.ts'
import { Fuse, type Incident, places } from './modes/fuse.ts'
import { KeptState } from './modes/kept-state.ts'
import {
  type Confirming,
  destinationOf,
  keptKey,
  refusedValue,
  rejectedValue,
  type SourceRow,
  sourceOf,
  Table,
} from './modes/memory-sides.ts'

/**
 * Each mode of a transfer, compared with a model: after any edits, kills, transient errors and abandoned transfers, a transfer
 * that succeeds leaves the destination in the state of the model. The engine is the real one. Its sides and the database's
 * state are in memory.
 */

type Mode = 'replace' | 'append' | 'upsert' | 'incremental' | 'changed' | 'mirror'

/** `restore`: all rows that left the source come back as they were. */
type Edit = { readonly id: number; readonly value: number | null; readonly does: 'put' | 'delete' | 'restore' }
type Step = {
  readonly edits: readonly Edit[]
  readonly incidents: readonly Incident[]
  /** Whether the transfer is given up after its last kill: the next one begins again. */
  readonly givesUp: boolean
  readonly confirming: Confirming
  readonly resets: boolean
}

const upsert = { writeMode: 'Upsert', keyColumns: 'id' }
const settingsOf: Readonly<Record<Mode, Values>> = {
  replace: { writeMode: 'Replace' },
  append: { writeMode: 'Insert' },
  upsert,
  incremental: upsert,
  changed: { ...upsert, sendRows: 'Changed' },
  mirror: { ...upsert, sendRows: 'Mirror' },
}

/** A connection with its source and its destination, and the model of both. */
class World {
  readonly mode: Mode
  readonly table = new Table()
  readonly kept: KeptState
  readonly source = new Map<number, SourceRow>()
  /** All values that each row had. */
  readonly history = new Map<number, Set<number | null>>()
  readonly #last = new Map<number, SourceRow>()
  #change = 0
  #fuse = new Fuse(undefined)
  #confirming: Confirming = 'each'
  #transfers = 0

  constructor(mode: Mode) {
    this.mode = mode
    this.kept = new KeptState(settingsOf[mode])
  }

  edit({ id, value, does }: Edit): void {
    this.#change += 1
    if (does === 'delete') this.source.delete(id)
    if (does === 'restore') {
      for (const [key, last] of this.#last)
        if (!this.source.has(key)) this.source.set(key, { ...last, change: this.#change })
    }
    if (does !== 'put') return
    const row = { id, value, change: this.#change }
    this.source.set(id, row)
    this.#last.set(id, row)
    this.history.set(id, (this.history.get(id) ?? new Set()).add(value))
  }

  /** Runs one transfer, with all its attempts. @returns whether it succeeded, and its name */
  async transfer({ incidents, givesUp, confirming }: Omit<Step, 'edits'>): Promise<{ done: boolean; id: string }> {
    // Rows that a destination holds are sent again in other batches, and could be added twice.
    const comesTwice = confirming === 'held' && (this.mode === 'append' || this.mode === 'replace')
    this.#confirming = comesTwice ? 'each' : confirming
    this.#transfers += 1
    const id = String(this.#transfers).padStart(16, '0')
    this.kept.begin(id)
    for (const incident of [...incidents, undefined]) {
      if (incident === undefined && givesUp && incidents.length > 0) break
      if (await this.#attempt(id, new Fuse(incident))) {
        this.kept.end(true)
        return { done: true, id }
      }
    }
    this.kept.end(false)
    return { done: false, id }
  }

  async #attempt(id: string, fuse: Fuse): Promise<boolean> {
    this.#fuse = fuse
    const now = () => this.#fuse
    const reads = this.mode === 'incremental' ? 'changes' : 'all'
    const sides = {
      rows: sourceOf(() => [...this.source.values()], reads, now),
      table: destinationOf(this.table, () => this.#confirming, now),
    }
    const egress = createEgress({ networkPolicy: 'public' })
    const result = await runJob(
      {
        kind: 'transfer',
        id,
        connectionId: '0f1e2d3c4b5a6979',
        connectors: [],
        retry: { firstMs: 0, mostMs: 0, totalMs: 10_000 },
        replaceShareMin: 0,
      },
      {
        runtime: {
          loadConnector: async (slug) => sides[slug as keyof typeof sides],
          egress,
          plainHttp: { loopback: false, allow: [] },
          localFolders: [],
        },
        host: this.kept.host(fuse),
        signal: fuse.signal,
        onProgress: () => {},
      },
    )
    await egress.close()
    if (result.ok) return true
    assert.equal(result.error.kind, 'ended', JSON.stringify(result.error))
    return false
  }
}

const isTaken = (value: number | null) => value !== null && value !== rejectedValue && value !== refusedValue
const pairs = (rows: readonly SourceRow[]) => rows.map(({ id, value }) => [id, value])

/** Fails unless the destination is as the model says, after a transfer that succeeded. */
function assertAsModel(world: World, id: string): void {
  const { mode, table, kept } = world
  const rows = [...world.source.values()]
  const taken = rows.filter(({ value }) => isTaken(value))
  const { read, accepted, rejected, unchanged, removed } = kept.counts
  assert.equal(read, accepted + rejected + unchanged, 'read is accepted, rejected and unchanged')
  if (mode === 'replace') {
    assert.deepEqual(table.current, pairs(taken))
    return
  }
  if (mode === 'append') {
    const own = [...table.added].flatMap(([key, added]) => (key.startsWith(`${id}:`) ? added : []))
    assert.deepEqual(own, pairs(taken))
    return
  }
  for (const { id: key, value } of taken)
    assert.equal(table.byKey.get(key), value, `the row ${key} is as in the source`)
  for (const [key, value] of table.byKey) {
    // The source had these values, and has all rows of a mirror.
    assert.ok(world.history.get(key as number)?.has(value as number), `the row ${key} was in the source`)
    if (mode === 'mirror')
      assert.ok(world.source.has(key as number) || key === keptKey, `the row ${key} left the source`)
  }
  if (mode !== 'mirror') assert.equal(removed, 0)
}

const anyValue = fc.constantFrom(1, 1, 2, 2, 3, 3, null, rejectedValue, refusedValue)
const editOf = fc.record<Edit>({
  id: fc.integer({ min: 1, max: 9 }),
  value: anyValue,
  does: fc.constantFrom('put', 'put', 'put', 'delete', 'delete', 'delete', 'restore'),
})
const incidentOf = fc.record<Incident>({
  place: fc.constantFrom(...places),
  after: fc.constantFrom(0, 0, 0, 0, 1, 1, 2, 5),
  kind: fc.constantFrom('kill', 'kill', 'transient'),
})
const stepOf = fc.record<Step>({
  edits: fc.array(editOf, { maxLength: 6, size: 'max' }),
  incidents: fc.array(incidentOf, { maxLength: 3, size: 'max' }),
  givesUp: fc.boolean(),
  confirming: fc.constantFrom('each', 'permit', 'held'),
  resets: fc.constantFrom(false, false, false, false, false, true),
})

for (const mode of ['replace', 'append', 'upsert', 'incremental', 'changed', 'mirror'] as const) {
  test(`${mode}: the destination is as the model says`, async (t) => {
    let steps = 0
    await fc.assert(
      fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 10, size: 'max' }), async (all) => {
        const world = new World(mode)
        for (const step of all) {
          steps += 1
          for (const edit of step.edits) world.edit(edit)
          if (step.resets) world.kept.reset()
          const { done, id } = await world.transfer(step)
          if (done) assertAsModel(world, id)
        }
        // The last transfer has no incidents, and the next one has nothing to do.
        const calm = { incidents: [], givesUp: false, confirming: 'each', resets: false } as const
        const last = await world.transfer(calm)
        assert.ok(last.done)
        assertAsModel(world, last.id)
        const again = await world.transfer(calm)
        assertAsModel(world, again.id)
        if (mode === 'changed' || mode === 'mirror')
          assert.equal(world.kept.counts.accepted, 0, 'nothing is sent again')
        // If the destination accepted none of some records, they are read again.
        const { read, accepted } = world.kept.counts
        if (mode === 'incremental') assert.ok(read === 0 || accepted === 0, 'nothing is read again')
      }),
      { numRuns: Number(process.env.PENSTOCK_TEST_MODEL_RUNS ?? 300) },
    )
    t.diagnostic(`${steps} transfers with incidents`)
  })
}

test('a mirror that dies at any place sends a row that comes back as it was', async () => {
  const calm = { incidents: [], givesUp: false, confirming: 'each', resets: false } as const
  for (const place of places) {
    for (const after of [0, 1, 2]) {
      const world = new World('mirror')
      world.edit({ id: 1, value: 1, does: 'put' })
      world.edit({ id: 2, value: 1, does: 'put' })
      await world.transfer(calm)
      world.edit({ id: 1, value: null, does: 'delete' })
      await world.transfer({ ...calm, incidents: [{ place, after, kind: 'kill' }], givesUp: true })
      world.edit({ id: 1, value: null, does: 'restore' })
      assertAsModel(world, (await world.transfer(calm)).id)
    }
  }
})
