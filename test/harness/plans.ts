import assert from 'node:assert/strict'
import pg from 'pg'
import type { Statement } from '../../packages/server/src/db/statement.ts'

/** How PostgreSQL runs a statement, measured in the unit that tests limit: the rows it reads, not the time it takes. */
export type Plan = {
  /** Every node: its kind, and the table and the index that it reads. */
  readonly nodes: readonly PlanNode[]
  /** Rows that were read from tables and indexes, including rows that a filter then dropped. */
  readonly rowsRead: number
  /** Rows that were read from one table, its indexes not counted. */
  rowsReadFrom(table: string): number
  /** The most rows that any sort was given. */
  readonly rowsSorted: number
  /** Tables that were read from one end to the other. */
  readonly scannedWhole: readonly string[]
  /** Pages that were read, cached or not. */
  readonly pagesRead: number
  /** The tree as a person reads it, for the message of a failure. */
  readonly text: string
}

export type PlanNode = {
  readonly kind: string
  readonly table: string | undefined
  readonly index: string | undefined
  readonly rowsOut: number
  readonly rowsRead: number
  readonly rowsIn: number
}

/** Whether the plan is made for the values at hand, or once for all values. */
export type PlanMode = 'force_custom_plan' | 'force_generic_plan'

type Parameters = Record<string, unknown>
type AnyStatement = Statement<Parameters, Record<string, unknown>>

type ExplainedNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows': number
  'Actual Loops': number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  'Shared Hit Blocks': number
  'Shared Read Blocks': number
  Filter?: string
  Plans?: ExplainedNode[]
}

/**
 * The modes in which the driver can run a statement. For a named prepared statement, PostgreSQL keeps one plan for all values
 * if it estimates that this costs no more.
 */
export const planModes = ({ plannedEachTime }: AnyStatement): PlanMode[] =>
  plannedEachTime ? ['force_custom_plan'] : ['force_custom_plan', 'force_generic_plan']

/** Runs a statement and returns how PostgreSQL ran it. */
export async function explain(
  client: pg.Client,
  statement: AnyStatement,
  parameters: Parameters,
  mode: PlanMode,
): Promise<Plan> {
  const { text, values } = statement.sends(parameters)
  await client.query(`set plan_cache_mode = ${mode}`)
  await client.query(`prepare explained as ${text}`)
  try {
    const given = values.length > 0 ? `(${values.map(literal).join(', ')})` : ''
    const { rows } = await client.query(`explain (analyze, buffers, format json) execute explained${given}`)
    return readPlan(rows[0]['QUERY PLAN'][0].Plan)
  } finally {
    await client.query('deallocate explained')
  }
}

function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.join(',')}}`)
  return typeof value === 'string' ? pg.escapeLiteral(value) : String(value)
}

function readPlan(root: ExplainedNode): Plan {
  const nodes: PlanNode[] = []
  const lines: string[] = []
  const visit = (node: ExplainedNode, depth: number) => {
    const times = (rows: number | undefined) => Math.round((rows ?? 0) * node['Actual Loops'])
    const kind = node['Node Type']
    const rowsOut = times(node['Actual Rows'])
    const dropped = times(node['Rows Removed by Filter']) + times(node['Rows Removed by Index Recheck'])
    const reads = kind.endsWith('Scan') && kind !== 'Subquery Scan' && kind !== 'Function Scan'
    nodes.push({
      kind,
      table: node['Relation Name'],
      index: node['Index Name'],
      rowsOut,
      rowsRead: reads ? rowsOut + dropped : 0,
      rowsIn: (node.Plans ?? []).reduce(
        (sum, child) => sum + Math.round(child['Actual Rows'] * child['Actual Loops']),
        0,
      ),
    })
    const what = [kind, node['Relation Name'], node['Index Name']].filter(Boolean).join(' ')
    lines.push(`${'  '.repeat(depth)}${what}: ${rowsOut} rows, ${dropped} dropped ${node.Filter ?? ''}`.trimEnd())
    for (const child of node.Plans ?? []) visit(child, depth + 1)
  }
  visit(root, 0)
  const sum = (some: readonly PlanNode[]) => some.reduce((total, { rowsRead }) => total + rowsRead, 0)
  return {
    nodes,
    rowsRead: sum(nodes),
    rowsReadFrom: (table) => sum(nodes.filter((node) => node.table === table)),
    rowsSorted: Math.max(0, ...nodes.filter(({ kind }) => kind.includes('Sort')).map(({ rowsIn }) => rowsIn)),
    scannedWhole: nodes.flatMap(({ kind, table }) => (kind === 'Seq Scan' && table ? [table] : [])),
    pagesRead: root['Shared Hit Blocks'] + root['Shared Read Blocks'],
    text: lines.join('\n'),
  }
}

/** A statement and what it is run with. */
export type Case = {
  title: string
  statement: Statement<never, Record<string, unknown>>
  parameters: Record<string, unknown>
}

/** Returns the problem of a plan, if any. */
export type Judge = (plan: Plan, at: Case) => string | false

/** Explains the cases in every mode that the driver can meet, and fails with all that `judge` finds wrong. */
export async function assertPlansOf(client: pg.Client, cases: readonly Case[], judge: Judge): Promise<void> {
  const failures: string[] = []
  for (const at of cases) {
    const statement = at.statement as AnyStatement
    for (const mode of planModes(statement)) {
      const plan = await explain(client, statement, at.parameters, mode)
      const failure = judge(plan, at)
      if (failure) failures.push(`${at.title} (${mode}): ${failure}\n${plan.text}`)
    }
  }
  assert.equal(failures.length, 0, failures.join('\n\n'))
}

/** A page is read from the index in its order: its rows and their related rows, and nothing else. */
export const judgePageOf = (size: number, plan: Plan): string | false =>
  (plan.rowsRead > 4 * size && `${plan.rowsRead} rows read for a page of ${size}`) ||
  (plan.rowsSorted > size && `${plan.rowsSorted} rows sorted for a page of ${size}`) ||
  (plan.scannedWhole.some((table) => table !== 'environments' && table !== 'organizations') &&
    `whole tables read: ${plan.scannedWhole.join(', ')}`)
