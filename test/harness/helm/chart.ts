import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parse, parseAllDocuments } from 'yaml'
import { findProgram } from '../programs.ts'

/** The chart of Helm, rendered by `render.go`, since no registry that the tests can use has Helm. */

const run = promisify(execFile)
const folder = join(import.meta.dirname, '../../../deploy/helm/penstock')
export const readChart = (path: string): string => readFileSync(join(folder, path), 'utf8')

export type Values = { readonly [key: string]: unknown }
export type Manifest = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> }
  readonly [key: string]: unknown
}

export type ChartRenderer = {
  /** Renders with values that override the chart's values. Rejects with the message of the template language. */
  render(values: Values): Promise<Manifest[]>
  close(): Promise<void>
}

/** Compiles the renderer, with the libraries of Debian. */
export async function createChartRenderer(): Promise<ChartRenderer> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-helm-'))
  const program = join(directory, 'render')
  const env = { ...process.env, GOPATH: '/usr/share/gocode', GO111MODULE: 'off', GOCACHE: join(directory, 'cache') }
  await run(findProgram('go') ?? 'go', ['build', '-o', program, '.'], { cwd: import.meta.dirname, env })
  return {
    render: async (values) => {
      const started = run(program)
      started.child.stdin?.end(JSON.stringify(inputOf(values)))
      const texts = Object.values(JSON.parse((await started).stdout) as Record<string, string>)
      return texts
        .flatMap((text) => parseAllDocuments(text).map((document) => document.toJS() as Manifest | null))
        .filter((manifest) => manifest?.kind !== undefined)
        .filter((manifest) => manifest !== null)
    },
    close: () => rm(directory, { recursive: true }),
  }
}

function inputOf(values: Values) {
  const { name, version, appVersion } = parse(readChart('Chart.yaml')) as Record<string, string>
  const named = (path: string) =>
    Object.fromEntries(readdirSync(join(folder, path)).map((file) => [file, readChart(`${path}/${file}`)]))
  return {
    Data: {
      Values: mergeValues(parse(readChart('values.yaml')) as Values, values),
      Chart: { Name: name, Version: version, AppVersion: appVersion },
      Release: { Name: 'production', Namespace: 'penstock', Service: 'Helm' },
    },
    Files: Object.fromEntries(Object.entries(named('files')).map(([file, text]) => [`files/${file}`, text])),
    Templates: { ...named('templates'), 'NOTES.txt': '' },
  }
}

/** As Helm does: objects are merged, everything else replaces. */
export function mergeValues(below: Values, above: Values): Values {
  const isObject = (value: unknown): value is Values =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
  const merged: Record<string, unknown> = { ...below }
  for (const [key, value] of Object.entries(above)) {
    const old = merged[key]
    merged[key] = isObject(old) && isObject(value) ? mergeValues(old, value) : value
  }
  return merged
}
