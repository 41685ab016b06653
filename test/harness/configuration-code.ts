import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { createClient } from '@penstock/client'
import {
  applyPlan,
  ConfigurationError,
  chooseAccounts,
  createDefinitions,
  createResolver,
  describePlan,
  exportConfiguration,
  loadDesired,
  makePlan,
  type Plan,
  type PlanOptions,
  readState,
} from '@penstock/configuration'
import { type Caller, callerOf } from './fixtures.ts'
import { type Organization, startTestService, type TestService } from './service.ts'

/** Helpers of tests of configuration as code: files, plans and what apply makes of them, against a service that listens. */

/** A service that listens, and a folder for files. Call it in a test file before its first test. */
export function codeService() {
  const running = {} as { service: TestService; baseUrl: string; folder: string }
  before(async () => {
    running.service = await startTestService({ PENSTOCK_QUOTA_CONNECTIONS: '5000' })
    running.baseUrl = await running.service.service.app.listen({ host: '127.0.0.1', port: 0 })
    running.folder = await mkdtemp(join(tmpdir(), 'penstock-code-'))
  })
  after(async () => {
    await running.service.close()
    await rm(running.folder, { recursive: true, force: true })
  })
  return { running, aParty: () => aParty(running) }
}

export const secrets = {
  SLACK: 'https://hooks.slack.example.com/canary-of-slack',
  S3_KEY: 'AKIAEXAMPLE',
  S3_SECRET: 'canary-code-secret',
  HOOK: `whsec_${Buffer.alloc(32, 'canary').toString('base64')}`,
}
let written = 0

/** An organization, and the commands on it. `requests` are the sent requests. */
async function aParty({ service, baseUrl, folder }: ReturnType<typeof codeService>['running']) {
  const organization: Organization = await service.addOrganization()
  const { clientId, clientSecret } = organization
  const requests: string[] = []
  const client = createClient({
    baseUrl,
    clientId,
    clientSecret,
    fetch: async (address, init) => {
      requests.push(`${init.method} ${new URL(address).pathname}`)
      return fetch(address, init)
    },
  })
  const resolverOf = (env: Record<string, string>, filesWithin?: string) => createResolver({ env, filesWithin })
  const caller: Caller = callerOf(service, organization)
  const party = {
    organization,
    client,
    requests,
    caller,
    /** Writes texts to files of a separate directory, and returns its path. */
    write: async (...texts: string[]) => {
      const directory = join(folder, String(++written))
      await mkdir(directory)
      for (const [index, text] of texts.entries()) await writeFile(join(directory, `${index}.yaml`), text)
      return directory
    },
    plan: async (
      path: string,
      options: PlanOptions & { env?: Record<string, string>; filesWithin?: string } = {},
    ): Promise<Plan> => {
      const { env = secrets, filesWithin, ...rest } = options
      const desired = await loadDesired([path])
      const state = await readState(client, chooseAccounts(desired))
      const resolver = resolverOf(env, filesWithin)
      return makePlan(desired, state, { options: rest, definitions: createDefinitions(client), resolver })
    },
    applyPlan: (plan: Plan, env: Record<string, string> = secrets) =>
      applyPlan(plan, { client, resolver: resolverOf(env) }),
    /** Applies, and expects that another plan finds nothing. */
    apply: async (path: string, options: PlanOptions & { env?: Record<string, string> } = {}) => {
      const { done, failed } = await party.applyPlan(await party.plan(path, options), options.env)
      assert.deepEqual(
        failed.map(({ problem }) => problem.message),
        [],
      )
      assert.equal(
        describePlan(await party.plan(path, { ...options, setSecrets: false })).includes('Nothing to change.'),
        true,
      )
      return done
    },
    export: async (accounts?: string[]) => {
      const { files, ...about } = await exportConfiguration({ client, baseUrl, accounts })
      return { text: files[0]?.text ?? '', ...about }
    },
    /** Content of the organization, by name, without values that differ between services. */
    state: async () => {
      const { accounts, webhooks, alertRules } = await readState(client)
      const whose = (of: string | null) => accounts.find(({ id }) => id === of)?.name ?? of
      const names = new Map(accounts.flatMap(({ connections }) => connections.map(({ id, name }) => [id, name])))
      const owned = [
        ...webhooks.map(({ accountId, url, description, eventTypes, enabled }) => ({
          of: whose(accountId),
          url,
          description,
          eventTypes: eventTypes?.toSorted() ?? null,
          enabled,
        })),
        ...alertRules.map(({ accountId, connectionIds, ...rule }) => ({
          of: whose(accountId),
          url: rule.name,
          conditions: rule.conditions,
          enabled: rule.enabled,
          emails: rule.emails,
          emailRoles: rule.emailRoles,
          slack: rule.slackUrl,
          teams: rule.teamsUrl,
          connections: connectionIds?.map((id) => names.get(id)).sort() ?? null,
        })),
      ]
      const inAccounts = accounts
        .map(({ name, enabled, connectors, connections }) => ({
          name,
          enabled,
          connectors: [...connectors.values()].map(({ slug, name, settings, secrets, configured }) => ({
            slug,
            name,
            settings,
            secrets,
            configured,
          })),
          connections: connections
            .map((one) => ({
              name: one.name,
              status: one.status,
              source: one.source,
              destination: one.destination,
              from: one.srcConnectionConfig,
              to: one.destConnectionConfig,
              schedule: one.schedule && [one.schedule.cron, one.schedule.timezone, one.schedule.enabled],
              drift: one.drift,
              rules: one.rules,
              blackout: one.blackout,
              tags: one.tags,
            }))
            .sort((a, b) => (a.name < b.name ? -1 : 1)),
        }))
        .sort((a, b) => (a.name < b.name ? -1 : 1))
      const keyOf = (one: (typeof owned)[number]) => JSON.stringify([one.of, one.url])
      return { accounts: inAccounts, owned: owned.sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1)) }
    },
  }
  return party
}

/** Signing secrets of the connector `webhook` have a specific form. */
export const hooks = (variables: readonly string[]) =>
  Object.fromEntries(variables.filter((name) => name.endsWith('SIGNING_SECRET')).map((name) => [name, secrets.HOOK]))
export const actions = (plan: Plan) => plan.changes.map(({ action, kind, name }) => `${action} ${kind} ${name}`)
export const fieldsOf = (plan: Plan) => plan.changes.flatMap(({ fields }) => fields.map(({ field }) => field))

/** Fails unless the work is refused. Returns the problems, one per line. */
export async function problemsOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => assert.fail('it was not refused'),
    (error) => error,
  )
  assert(error instanceof ConfigurationError, String(error.stack))
  return error.message
}

/** A file with a sub-account, its connectors and two connections. */
export const acme = `
version: 1
accounts:
  - name: Acme Outdoor
    enabled: true
    connectors:
      - connector: amazon-s3-source
        settings: {accessKeyId: "\${env:S3_KEY}"}
        secrets: {secretAccessKey: "\${env:S3_SECRET}"}
      - connector: webhook
        settings: {url: "https://hooks.example.com/in"}
        secrets: {signingSecret: "\${env:HOOK}"}
    connections:
      - name: Orders
        source: {connector: amazon-s3-source, settings: {bucketUri: "s3://acme/orders/"}}
        destination: {connector: webhook}
        mapping: {email: E-Mail, city: null, source: {value: shop}}
        schedule: {cron: 0 6 * * *, timezone: Europe/Berlin}
        drift: stop
        rules:
          - {check: rejected, action: stop, percent: 5}
          - {check: values, action: warn, column: country, values: [DE, AT]}
        blackout: {timezone: Europe/Berlin, windows: [{days: [sat, sun], from: '00:00', to: '00:00'}]}
        tags: [production, Q4]
        owner: ''
        status: active
      - name: Returns
        source: {connector: amazon-s3-source, settings: {bucketUri: "s3://acme/returns/"}}
        destination: {connector: webhook}
        status: disabled
`
