import { createHash } from 'node:crypto'
import { managed } from './kinds.ts'
import { destroys, type Plan } from './plan.ts'
import { describePosition, describeProblem, printable } from './problems.ts'
import type { Change } from './resource-kind.ts'
import type { FieldChange } from './values.ts'

/** A plan for people and for programs. No secret is in it: only which ones are set. */

const signs = { create: '+', update: '~', replace: '-/+', delete: '-' } as const
const colours = { create: 32, update: 33, replace: 31, delete: 31 } as const
const titles = new Map(managed.map(({ kind, title }) => [kind, title]))

/** Characters of one value that are shown. */
const shownMax = 200
/** Things that are left alone and are named. */
const unmanagedMax = 20
/** Sub-accounts that are named in their line. */
const foreignMax = 5

export function describePlan(plan: Plan, { colour = false } = {}): string {
  const paint = (code: number, text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text)
  const lines: string[] = []
  for (const [account, changes] of Map.groupBy(plan.changes, (change) => change.account)) {
    lines.push(account === null ? 'Organization' : `Sub-account ${printable(account)}`)
    for (const change of changes) {
      const sign = signs[change.action]
      const at = change.at ? `  (${describePosition(change.at)})` : ''
      lines.push(paint(colours[change.action], `  ${sign.padEnd(3)} ${titleOf(change)}`) + printable(at))
      lines.push(...change.fields.map((field) => `        ${describeField(field)}`))
    }
    lines.push('')
  }
  lines.push(...plan.notes.map((note) => printable(`Note: ${note}`)))
  const foreign = plan.unmanaged.filter(({ kind }) => kind === 'account')
  const unmanaged = plan.unmanaged.filter(({ kind }) => kind !== 'account')
  for (const { kind, account, name } of unmanaged.slice(0, unmanagedMax)) {
    const of = account ?? 'the organization'
    lines.push(printable(`Not changed, because it is in no file: ${titles.get(kind)} ${name} of ${of}`))
  }
  if (unmanaged.length > unmanagedMax) lines.push(`… and ${unmanaged.length - unmanagedMax} more`)
  if (foreign.length > 0) {
    const names = foreign.slice(0, foreignMax).map(({ name }) => name)
    const more = foreign.length > foreignMax ? ` and ${foreign.length - foreignMax} more` : ''
    const what = foreign.length === 1 ? 'sub-account' : `${foreign.length} sub-accounts`
    lines.push(
      printable(
        `Not changed, because ${foreign.length === 1 ? 'it is' : 'they are'} in no file: ${what} ${names.join(', ')}${more}`,
      ),
    )
  }
  lines.push(...plan.missing.map((problem) => `Needed to apply: ${describeProblem(problem)}`))
  lines.push(...plan.refused.map((problem) => `The service will refuse: ${describeProblem(problem)}`))
  lines.push(summarySentence(plan))
  return lines.join('\n')
}

export const titleOf = ({ kind, name }: Change): string => printable(`${titles.get(kind)} ${name}`)

function describeField({ field, from, to, secret }: FieldChange): string {
  const name = printable(field)
  if (secret) return `${name}  ${to === undefined ? 'cleared' : from === undefined ? 'set' : 'set again'}`
  if (to === undefined) return `${name}  ${show(from)} → none`
  return from === undefined ? `${name}  ${show(to)}` : `${name}  ${show(from)} → ${show(to)}`
}

function show(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'none')
  return text.length > shownMax ? `${text.slice(0, shownMax)}…` : text
}

const countOf = (plan: Plan, action: Change['action']) =>
  plan.changes.filter((change) => change.action === action).length

function summarySentence(plan: Plan): string {
  if (plan.changes.length === 0) return 'Nothing to change.'
  const parts = [
    `${countOf(plan, 'create')} to create`,
    `${countOf(plan, 'update')} to change`,
    `${countOf(plan, 'replace')} to replace`,
    `${countOf(plan, 'delete')} to delete`,
  ].filter((part) => !part.startsWith('0 '))
  return `Plan: ${parts.join(', ')}. Digest ${digestOf(plan)}`
}

/** A digest of a plan. It shows whether the plan that is about to be applied is the plan that was reviewed. */
export const digestOf = (plan: Plan): string =>
  createHash('sha256')
    .update(JSON.stringify(changesOf(plan)))
    .digest('hex')
    .slice(0, 16)

const changesOf = ({ changes }: Plan) =>
  changes.map(({ action, kind, account, name, fields }) => ({ action, kind, account, name, fields }))

/** A plan as `--json` prints it. */
export const viewPlan = (plan: Plan) => ({
  changes: changesOf(plan).map((change, index) => ({ ...change, at: plan.changes[index]?.at ?? null })),
  summary: {
    create: countOf(plan, 'create'),
    update: countOf(plan, 'update'),
    replace: countOf(plan, 'replace'),
    delete: countOf(plan, 'delete'),
    unmanaged: plan.unmanaged.length,
  },
  digest: digestOf(plan),
  destroys: destroys(plan).length > 0,
  notes: plan.notes,
  missing: plan.missing.map(({ message, at }) => ({ message, at: at ?? null })),
  refused: plan.refused.map(({ message, at }) => ({ message, at: at ?? null })),
})
