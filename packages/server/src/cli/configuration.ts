import { mkdir, open, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Client } from '@penstock/client'
import {
  applyPlan,
  ConfigurationError,
  chooseAccounts,
  createDefinitions,
  createResolver,
  describePlan,
  describeProblem,
  destroys,
  digestOf,
  exportConfiguration,
  loadDesired,
  makePlan,
  type Plan,
  readState,
  titleOf,
  viewPlan,
  type WebhookSecret,
} from '@penstock/configuration'
import { ConfigError } from '../config.ts'
import { print, tell } from './print.ts'
import { connect, type RemoteService } from './remote.ts'

/** Configuration as code: commands that call the API of a service, wherever it is, and use no database. */

/** Exit codes of plan: as of terraform plan -detailed-exitcode. */
const exits = { same: 0, failed: 1, changes: 2, changedMeanwhile: 3 } as const

/** Runs a command. Problems with files and references are printed like problems with settings, one line each. */
async function sayingProblems(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    throw error instanceof ConfigurationError ? new ConfigError(error.message.split('\n')) : error
  }
}

type ExportOptions = RemoteService & { account?: string[]; output?: string; directory?: string }

/** `penstock export` */
export const exportCommand = (options: ExportOptions) => sayingProblems(() => exportFiles(options))

async function exportFiles({ account, output, directory, json, ...service }: ExportOptions): Promise<void> {
  if (output !== undefined && directory !== undefined)
    throw new ConfigError(['--output and --directory cannot be used together: choose one.'])
  const { client, baseUrl } = connect(service)
  const { files, variables, notes, connections } = await exportConfiguration({
    client,
    baseUrl,
    accounts: account,
    split: directory !== undefined,
  })
  for (const note of notes) process.stderr.write(`Note: ${describeProblem({ message: note })}\n`)
  const written: string[] = []
  for (const { name, text } of files) {
    const path = directory === undefined ? output : join(directory, name)
    if (path === undefined) {
      if (!json) process.stdout.write(text)
      continue
    }
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
    written.push(path)
  }
  if (json) print({ files: written.length > 0 ? written : files, variables, notes, connections }, true, '')
  else if (written.length > 0)
    process.stdout.write(
      [...written.map((path) => `Wrote ${path}`), ...variables.map((name) => `Needs ${name}`)]
        .map((line) => `${line}\n`)
        .join(''),
    )
}

type PlanOptions = RemoteService & {
  allowDestroy?: boolean
  allowDestroyAccounts?: boolean
  setSecrets?: boolean
  filesWithin?: string
}

async function planOf(paths: readonly string[], client: Client, { filesWithin, ...options }: PlanOptions) {
  const desired = await loadDesired(paths)
  const state = await readState(client, chooseAccounts(desired))
  const resolver = createResolver({ env: process.env, filesWithin })
  const { allowDestroy, allowDestroyAccounts, setSecrets } = options
  const given = { options: { allowDestroy, allowDestroyAccounts, setSecrets }, definitions: createDefinitions(client) }
  return { plan: await makePlan(desired, state, { ...given, resolver }), resolver }
}

/** Whether the output is a terminal that shows colours. */
const isTerminal = () => process.stdout.isTTY === true && !process.env.NO_COLOR

/** `penstock plan`. The exit code says whether there is something to change. */
export const planCommand = (paths: readonly string[], options: PlanOptions) =>
  sayingProblems(() => showPlan(paths, options))

async function showPlan(paths: readonly string[], options: PlanOptions): Promise<void> {
  const { client } = connect(options)
  const { plan } = await planOf(paths, client, options)
  print(viewPlan(plan), options.json, describePlan(plan, { colour: isTerminal() }))
  process.exitCode = plan.changes.length > 0 ? exits.changes : exits.same
}

/** `penstock apply` */
type ApplyOptions = PlanOptions & { expect?: string; webhookSecrets?: string }

export const applyCommand = (paths: readonly string[], options: ApplyOptions) =>
  sayingProblems(() => applyFiles(paths, options))

async function applyFiles(
  paths: readonly string[],
  { expect, webhookSecrets, ...options }: ApplyOptions,
): Promise<void> {
  const { client } = connect(options)
  const { plan, resolver } = await planOf(paths, client, options)
  const say = (line: string) => options.json || process.stdout.write(`${line}\n`)
  say(describePlan(plan, { colour: isTerminal() }))
  const refused = refusalOf(plan, options, expect)
  if (refused) {
    tell(refused.message)
    if (options.json) print({ ...viewPlan(plan), done: 0, failed: [] }, true, '')
    process.exitCode = refused.code
    return
  }
  const onSecret = webhookSecrets === undefined ? undefined : await secretsTo(webhookSecrets)
  const { done, failed } = await applyPlan(plan, {
    client,
    resolver,
    onSecret,
    onDone: (change, problem) => {
      if (!problem) say(`Done: ${titleOf(change)}`)
      else tell(`${titleOf(change)}: ${describeProblem(problem)}`)
    },
  })
  const view = failed.map(({ change, problem, changedMeanwhile }) => ({
    kind: change.kind,
    account: change.account,
    name: change.name,
    message: problem.message,
    changedMeanwhile,
  }))
  const words =
    plan.changes.length === 0 ? 'Nothing was changed.' : `${done.length} of ${plan.changes.length} changes are done.`
  print({ ...viewPlan(plan), done: done.length, failed: view }, options.json, words)
  if (failed.length > 0)
    process.exitCode = failed.every(({ changedMeanwhile }) => changedMeanwhile) ? exits.changedMeanwhile : exits.failed
}

/** Adds the secrets of webhooks to a file that no one else can read, a line of JSON each, and on the disk before apply continues. */
async function secretsTo(path: string): Promise<(made: WebhookSecret) => Promise<void>> {
  const file = await open(path, 'a', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${path} cannot be written (${error.code}): name another file in --webhook-secrets.`])
  })
  await file.close()
  return async (made) => {
    await using file = await open(path, 'a', 0o600)
    await file.appendFile(`${JSON.stringify(made)}\n`)
    await file.sync()
  }
}

function refusalOf(plan: Plan, { allowDestroy }: PlanOptions, expect: string | undefined) {
  if (expect !== undefined && expect !== digestOf(plan))
    return {
      message: `The plan is not the expected one, ${expect}: the files or the service changed since. Nothing was changed. Review the plan above.`,
      code: exits.changedMeanwhile,
    }
  const replaced = destroys(plan).filter(({ action }) => action === 'replace')
  if (replaced.length === 0 || allowDestroy) return undefined
  const names = replaced.map(titleOf).join(', ')
  return {
    message: `The connectors of a connection cannot be changed, so these would be deleted and created again: ${names}. Nothing was changed. Use --allow-destroy to do that.`,
    code: exits.failed,
  }
}
