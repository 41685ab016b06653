import { neededEncoding, wrongEncoding } from '../../db/encoding.ts'
import type { ServerFacts } from '../../db/readiness.ts'
import { neededSettings } from '../../db/session-settings.ts'
import { type Finding, problem, warning, well } from './check.ts'

const versionMin = 15

/** The server of the database: whether it can be used, facts about it, and settings that an operator should change. */
export function describeServer(facts: ServerFacts): Finding {
  const { version, number, encoding, settings, defaults } = facts
  if (number < versionMin * 10_000) return problem(`PostgreSQL ${version} is too old: use ${versionMin} or newer.`)
  if (encoding !== neededEncoding) return problem(wrongEncoding(encoding))
  const names = Object.keys(neededSettings)
  const missed = names.filter((name) => name in settings && settings[name] !== neededSettings[name])
  if (missed.length > 0) {
    const values = missed.map((name) => `${name} = ${settings[name]}`).join(', ')
    return problem(`Sessions of Penstock do not keep their settings (${values}). Check the pooler in DATABASE_URL.`)
  }
  const changed = names.filter((name) => name !== 'jit' && name in defaults && defaults[name] !== neededSettings[name])
  const jit = `JIT compilation is off in sessions of Penstock${defaults.jit === 'on' ? ', and on by default' : ''}`
  const others = changed.length > 0 ? `; they also change the defaults of ${changed.join(', ')}` : ''
  const message = `PostgreSQL ${version}. ${jit}${others}.`
  const risks = risksOf(facts)
  return risks.length > 0 ? warning([message, ...risks].join(' ')) : well(message)
}

function risksOf({ settings, defaults }: ServerFacts): string[] {
  const risks: string[] = []
  for (const [name, what] of [
    ['fsync', 'A power cut can damage the database.'],
    ['full_page_writes', 'A power cut can damage the database.'],
    [
      'synchronous_commit',
      'A crash of the server loses the last commits, and batches that they confirmed are delivered again.',
    ],
  ] as const) {
    if (settings[name] === 'off') risks.push(`${name} is off. ${what} Set it to on.`)
  }
  if (defaults.default_transaction_read_only === 'on') {
    risks.push(
      'default_transaction_read_only is on: nothing can be written. If the disk is nearly full, free space first; then set it to off for this role or database.',
    )
  }
  return risks
}
