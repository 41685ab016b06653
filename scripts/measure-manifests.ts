/**
 * Measures how many manifests of Airbyte the connector HTTP API can run: `node scripts/measure-manifests.ts <folder> [--causes]
 * [--list]`. The folder contains files `*.yaml`. Every value of a configuration that is not a secret is filled in by its schema.
 * Of several ways to sign in, the best supported one is used. Nothing is sent to any API.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { type ImportedManifest, importManifest } from '../packages/connectors/src/http-api/import/import-manifest.ts'
import { isObject, listIn, objectIn } from '../packages/connectors/src/platform-api/json.ts'

const [folder = '.', ...options] = process.argv.slice(2)
type Values = Record<string, string>

/** A value that a property could have. */
function sampleOf(name: string, property: Readonly<Record<string, unknown>>): string {
  const given = usualOf(property)
  if (/date|start|since|from_time/i.test(name) && /^(sample|0|10|%.*|\D*)$/.test(given)) return '2026-01-01'
  return given === 'sample' && /url|host|endpoint|instance|server|realm_uri/i.test(name)
    ? 'https://sample.example.com'
    : given
}

function usualOf(property: Readonly<Record<string, unknown>>): string {
  const { type, format, examples, default: usual, const: fixed, enum: choices, pattern } = property
  const [first] = [fixed ?? usual ?? listIn(choices)[0] ?? [examples ?? []].flat()[0]]
  if (isObject(first) || Array.isArray(first)) return JSON.stringify(first)
  if (first !== undefined && first !== null && first !== '') return String(first)
  const kind = [type].flat().find((one) => one !== 'null')
  if (kind === 'integer' || kind === 'number') return '10'
  if (kind === 'boolean') return 'true'
  if (kind === 'array') return '["a","b"]'
  if (kind === 'object') return '{}'
  if (format === 'date-time') return '2026-01-01T00:00:00Z'
  if (format === 'date' || /\{4\}.*\{2\}/.test(String(pattern)))
    return String(pattern).includes('T') ? '2026-01-01T00:00:00Z' : '2026-01-01'
  return 'sample'
}

/** Whether a value is a secret: some manifests call the name of an account one. */
const isSecret = (name: string, { airbyte_secret: says }: Readonly<Record<string, unknown>>): boolean =>
  says === true &&
  !/(tenant|account|company|organization|project|site|domain|subdomain|uid|redirect_uri|(?<!client)_id)$/i.test(name)

/** Values for each choice among forms of objects. */
function valuesOf(schema: Readonly<Record<string, unknown>>, path = ''): Values[] {
  let found: Values[] = [{}]
  for (const [name, value] of Object.entries(objectIn(schema.properties))) {
    const property = objectIn(value)
    const at = path === '' ? name : `${path}.${name}`
    const forms = listIn(property.oneOf).map(objectIn)
    const nested = property.properties ? valuesOf(property, at) : []
    const chosen = forms.length > 0 ? forms.flatMap((form) => valuesOf(form, at)) : nested
    const own = chosen.length > 0 ? chosen : isSecret(name, property) ? [{}] : [{ [at]: sampleOf(name, property) }]
    found = found.flatMap((left) => own.map((right) => ({ ...left, ...right }))).slice(0, 8)
  }
  return found
}

function withoutProtocol(values: Values): Values | undefined {
  const text = JSON.stringify(values)
  return text.includes('https://sample.') ? JSON.parse(text.replaceAll('https://sample.', 'sample.')) : undefined
}

/** How much was not carried. */
const sizeOf = ({ problems, gaps }: ImportedManifest): number => problems.length + gaps.length

const causes = new Map<string, Set<string>>()
const counts = { whole: 0, part: 0, none: 0 }
const streams = { carried: 0, all: 0 }
let longest = 0
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.yaml'))
  .sort()
for (const file of files) {
  const text = readFileSync(join(folder, file), 'utf8')
  const manifest = objectIn(parseDocument(text, { logLevel: 'silent' }).toJS({ maxAliasCount: 1_000 }))
  const spec = objectIn(objectIn(manifest.spec).connection_specification)
  const choices = valuesOf(spec)
  // The manifest may ask for a host without its protocol.
  const plain = choices.map((values) => withoutProtocol(values)).filter((one) => one !== undefined)
  const results = [...choices, ...plain].map((values) => importManifest(text, values))
  const best = results.sort((a, b) => b.streams.carried - a.streams.carried || sizeOf(a) - sizeOf(b))[0]
  if (!best) continue
  const isWhole = sizeOf(best) === 0 && best.streams.carried > 0
  counts[isWhole ? 'whole' : best.streams.carried > 0 ? 'part' : 'none']++
  streams.carried += best.streams.carried
  streams.all += best.streams.all
  longest = Math.max(longest, best.values.definition?.length ?? 0)
  if (options.includes('--list'))
    console.log(`${isWhole ? 'whole' : best.streams.carried > 0 ? 'part ' : 'none '} ${file}`)
  if (options.includes('--without-python') && text.includes('class_name')) continue
  for (const { path, message } of [...best.problems, ...best.gaps]) {
    const place = path.replace(/^streams\[\d+\] .*?\.(?=[a-z_]+)/, '').replace(/\[\d+\]/g, '')
    const cause = `${place.slice(0, 60)}: ${message.slice(0, 140)}`
    causes.set(cause, (causes.get(cause) ?? new Set()).add(file))
  }
}
const share = (count: number) => `${count} (${Math.round((count / files.length) * 1000) / 10} %)`
console.log(
  `${files.length} manifests: whole ${share(counts.whole)}, in part ${share(counts.part)}, not at all ${share(counts.none)}`,
)
console.log(`${streams.carried} of ${streams.all} streams; the longest definition has ${longest} characters`)
if (options.includes('--causes')) {
  for (const [cause, found] of [...causes].sort((a, b) => b[1].size - a[1].size).slice(0, 150)) {
    console.log(`${String(found.size).padStart(4)}  ${cause}  (${[...found].slice(0, 3).join(', ')})`)
  }
}
