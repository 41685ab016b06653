import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Ajv } from 'ajv'
import { Deployment } from 'kubernetes-models/apps/v1'
import { Job } from 'kubernetes-models/batch/v1'
import { Ingress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1'
import { Service } from 'kubernetes-models/v1'
import { parse } from 'yaml'
import { readConfig } from '../packages/server/src/config.ts'
import {
  type ChartRenderer,
  createChartRenderer,
  type Manifest,
  mergeValues,
  readChart,
  type Values,
} from './harness/helm/chart.ts'
import { skipWithout } from './harness/programs.ts'

/** The chart of Helm: its values, what it renders, and that Kubernetes and the program accept that. */

type Model = new (data: never) => { validate(): void }
const models: Readonly<Record<string, Model>> = {
  Deployment,
  Job,
  Ingress,
  NetworkPolicy,
  PodDisruptionBudget,
  Service,
}
/** Resources of others, for which there is no schema here. */
const foreign = ['ExternalSecret', 'PodMonitor', 'PrometheusRule', 'ScaledObject', 'ServiceMonitor']

type Container = {
  image: string
  args: string[]
  env: { name: string; value: string }[]
  securityContext: Record<string, unknown>
}
type PodSpec = { securityContext: Record<string, unknown>; containers: Container[]; volumes: Values[] }

const least = {
  image: { repository: 'registry.example.com/penstock' },
  publicUrl: 'https://penstock.example.com',
  secrets: { existingSecret: 'penstock' },
  networkPolicy: { databaseTo: [{ ipBlock: { cidr: '10.20.0.5/32' } }] },
}
const most = {
  ...least,
  secrets: { externalSecret: { enabled: true, store: { name: 'vault' } } },
  mail: { from: 'Penstock <penstock@example.com>' },
  settings: { PENSTOCK_RATE_LIMIT: '12000', PENSTOCK_ENVIRONMENT: 'a "quoted" name' },
  worker: { autoscaling: { enabled: true, prometheus: 'http://prometheus.monitoring.svc:9090' } },
  ingress: { enabled: true, className: 'nginx', tlsSecret: 'penstock-tls', annotations: { a: 'b' } },
  networkPolicy: { databaseTo: [{ podSelector: { matchLabels: { app: 'postgres' } } }] },
  trustedProxies: '10.244.0.0/16',
  certificates: { configMap: 'authorities' },
  databaseTls: { secret: 'database-tls' },
  prometheusOperator: { enabled: true, labels: { release: 'prometheus' } },
  imagePullSecrets: [{ name: 'registry' }],
  nodeSelector: { disk: 'fast' },
  tolerations: [{ key: 'pipelines', operator: 'Exists' }],
}

const checkValues = new Ajv({ allErrors: true, strict: false }).compile(JSON.parse(readChart('values.schema.json')))
const defaults = parse(readChart('values.yaml')) as Values

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as Values
  const chart = parse(readChart('Chart.yaml')) as Values
  assert.deepEqual([chart.version, chart.appVersion], [version, version])
})

test('without network policies, the place of PostgreSQL is not needed', () => {
  const values = { ...least, networkPolicy: { enabled: false } }
  assert(checkValues(mergeValues(defaults, values)), JSON.stringify(checkValues.errors))
})

test('values that are missing, misspelt or impossible are refused by the schema', () => {
  for (const values of [least, most]) {
    assert(checkValues(mergeValues(defaults, values)), JSON.stringify(checkValues.errors))
  }
  for (const [what, values] of Object.entries({
    'nothing is set': {},
    'no secret': { ...least, secrets: {} },
    'no store': { ...least, secrets: { externalSecret: { enabled: true } } },
    'a path in the address': { ...least, publicUrl: 'https://example.com/penstock' },
    'a misspelt value': { ...least, workers: { replicas: 3 } },
    'a policy without the place of PostgreSQL': { ...least, networkPolicy: {} },
    'a place of PostgreSQL that is not one': { ...least, networkPolicy: { databaseTo: [{ cidr: '10.0.0.0/8' }] } },
    'a place of PostgreSQL that is everything': { ...least, networkPolicy: { databaseTo: [{}] } },
    'a policy that lets everyone in': { ...least, networkPolicy: { ...least.networkPolicy, from: [] } },
    'authorities from two places': { ...least, certificates: { configMap: 'a', secret: 'b' } },
    'a drain without an end': { ...least, api: { drainSeconds: -1 } },
    'a setting that is a number': { ...least, settings: { PENSTOCK_RATE_LIMIT: 5 } },
    'a setting of another program': { ...least, settings: { LD_PRELOAD: '/tmp/x.so' } },
    'autoscaling without metrics': { ...least, worker: { autoscaling: { enabled: true } } },
  })) {
    assert(!checkValues(mergeValues(defaults, values)), what)
  }
})

describe('rendered', { skip: skipWithout('go') }, () => {
  let chart: ChartRenderer
  before(async () => {
    chart = await createChartRenderer()
  })
  after(() => chart.close())

  const find = (manifests: readonly Manifest[], kind: string, name: string): Manifest => {
    const found = manifests.find((manifest) => manifest.kind === kind && manifest.metadata.name === name)
    assert(found, `${kind} ${name} of ${manifests.map((manifest) => `${manifest.kind} ${manifest.metadata.name}`)}`)
    return found
  }
  const podsOf = (manifests: readonly Manifest[]): PodSpec[] =>
    manifests.flatMap(({ spec }) => {
      const { template } = spec as { template?: { spec: PodSpec } }
      return template ? [template.spec] : []
    })

  for (const [name, values, kinds] of [
    ['the least', least, { Deployment: 2, Job: 1, NetworkPolicy: 3, PodDisruptionBudget: 2, Service: 1 }],
    [
      'the most',
      most,
      {
        Deployment: 2,
        ExternalSecret: 1,
        Ingress: 1,
        Job: 1,
        NetworkPolicy: 3,
        PodDisruptionBudget: 2,
        PodMonitor: 1,
        PrometheusRule: 1,
        ScaledObject: 1,
        Service: 2,
        ServiceMonitor: 1,
      },
    ],
  ] as const) {
    test(`with ${name} values, Kubernetes accepts every resource`, async () => {
      const manifests = await chart.render(values)
      const counts = Object.groupBy(manifests, ({ kind }) => kind)
      assert.deepEqual(Object.fromEntries(Object.entries(counts).map(([kind, of]) => [kind, of?.length])), kinds)
      for (const manifest of manifests) {
        const Model = models[manifest.kind]
        if (Model) assert.doesNotThrow(() => new Model(manifest as never).validate(), JSON.stringify(manifest, null, 1))
        else assert(foreign.includes(manifest.kind), manifest.kind)
      }
    })

    test(`with ${name} values, processes have no rights, and settings that the program accepts`, async () => {
      const pods = podsOf(await chart.render(values))
      assert.deepEqual(pods.flatMap(({ containers }) => containers.flatMap(({ args }) => args)).sort(), [
        'migrate',
        'serve',
        'worker',
      ])
      for (const { securityContext, containers } of pods) {
        assert.deepEqual([securityContext.runAsNonRoot, securityContext.runAsUser], [true, 1000])
        for (const { image, env, securityContext: own } of containers) {
          assert.equal(image, 'registry.example.com/penstock:0.1.0')
          assert.deepEqual(own, {
            allowPrivilegeEscalation: false,
            readOnlyRootFilesystem: true,
            capabilities: { drop: ['ALL'] },
          })
          const settings = Object.fromEntries(env.map(({ name, value }) => [name, value]))
          const files = Object.entries(settings).filter(([name]) => name.endsWith('_FILE'))
          for (const [name] of files) delete settings[name]
          const secrets = {
            DATABASE_URL: 'postgres://penstock:x@postgres/penstock',
            PENSTOCK_MASTER_KEY: 'ab'.repeat(32),
          }
          const mail = values === most ? { PENSTOCK_SMTP_URL: 'smtps://a:b@mail.example.com' } : {}
          const config = readConfig({ ...settings, ...secrets, ...mail })
          assert.equal(config.publicUrl, 'https://penstock.example.com')
          assert.deepEqual(
            files.map(([, path]) => path.replace('/run/secrets/penstock/', '')).sort(),
            values === most ? ['database-url', 'master-key', 'smtp-url'] : ['database-url', 'master-key'],
          )
        }
      }
    })
  }

  test('selectors find the pods of their component alone, and the metrics have no way in from outside', async () => {
    const manifests = await chart.render(most)
    const labelsOf = (name: string) =>
      (find(manifests, 'Deployment', name).spec as { template: { metadata: { labels: Record<string, string> } } })
        .template.metadata.labels
    const pods = { api: labelsOf('production-penstock-api'), worker: labelsOf('production-penstock-worker') }
    const selects = (selector: Record<string, string>) =>
      Object.entries(pods).flatMap(([pod, labels]) =>
        Object.entries(selector).every(([label, value]) => labels[label] === value) ? [pod] : [],
      )
    const service = find(manifests, 'Service', 'production-penstock-api').spec as { selector: Record<string, string> }
    assert.deepEqual(selects(service.selector), ['api'])
    for (const pod of ['api', 'worker']) {
      for (const kind of ['Deployment', 'PodDisruptionBudget']) {
        const { selector } = find(manifests, kind, `production-penstock-${pod}`).spec as {
          selector: { matchLabels: Record<string, string> }
        }
        assert.deepEqual(selects(selector.matchLabels), [pod])
      }
    }
    const { rules } = find(manifests, 'Ingress', 'production-penstock').spec as {
      rules: { host: string; http: { paths: { path: string; backend: { service: { name: string } } }[] } }[]
    }
    assert.deepEqual(
      rules.map(({ host, http }) => [host, ...http.paths.map(({ path, backend }) => [path, backend.service.name])]),
      [['penstock.example.com', ['/metrics', 'production-penstock-nothing'], ['/', 'production-penstock-api']]],
    )
    assert.equal((find(manifests, 'Service', 'production-penstock-nothing').spec as Values).selector, undefined)
  })

  test('the number of workers follows the transfers, and the rules are those of deploy/prometheus', async () => {
    const manifests = await chart.render(most)
    assert.equal((find(manifests, 'Deployment', 'production-penstock-worker').spec as Values).replicas, undefined)
    const scaled = find(manifests, 'ScaledObject', 'production-penstock-worker').spec as {
      triggers: { metadata: { query: string; threshold: string } }[]
    }
    assert.deepEqual(
      scaled.triggers.map(({ metadata }) => [metadata.query, metadata.threshold]),
      [['sum(max by (status) (penstock_transfers{namespace="penstock",status=~"queued|running"}))', '2']],
    )
    const rules = readFileSync(join(import.meta.dirname, '../deploy/prometheus/rules.yml'), 'utf8')
    assert.deepEqual(find(manifests, 'PrometheusRule', 'production-penstock').spec, parse(rules))
  })

  test('the schema is migrated with its secret before anything starts', async () => {
    const manifests = await chart.render(most)
    const hooks = manifests.flatMap(({ kind, metadata: { annotations } }) =>
      annotations?.['helm.sh/hook'] ? [[kind, Number(annotations['helm.sh/hook-weight'] ?? 0)] as const] : [],
    )
    assert.deepEqual(
      hooks.sort(([, a], [, b]) => a - b).map(([kind]) => kind),
      ['ExternalSecret', 'Job'],
    )
  })

  test('pods have probes, the time to drain, and no credentials that would be lost with them', async () => {
    const pods = podsOf(await chart.render(least))
    for (const pod of pods) {
      const [container] = pod.containers as (Container & Values)[]
      assert(container)
      const settings = Object.fromEntries(container.env.map(({ name, value }) => [name, value]))
      assert.equal(settings.PENSTOCK_FIRST_ORGANIZATION, '0')
      if (container.args[0] === 'migrate') continue
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) assert(container[probe], probe)
      const { terminationGracePeriodSeconds: grace } = pod as unknown as { terminationGracePeriodSeconds: number }
      assert(grace >= Number(settings.PENSTOCK_DRAIN_SECONDS ?? 0) + 45, `${grace} seconds`)
      assert.equal(container.lifecycle, undefined)
    }
    assert.equal(pods.length, 3)
  })

  test('the policy names where PostgreSQL is', async () => {
    const policy = find(await chart.render(least), 'NetworkPolicy', 'production-penstock')
    const { egress } = policy.spec as { egress: { ports?: { port: number }[]; to?: unknown[] }[] }
    const database = egress.find(({ ports }) => ports?.some(({ port }) => port === 5432))
    assert.deepEqual(database?.to, least.networkPolicy.databaseTo)
  })

  test('authorities are mounted where every process of Node reads them, and the files for PostgreSQL next to them', async () => {
    for (const [values, source] of [
      [{ certificates: { configMap: 'authorities' } }, { configMap: { name: 'authorities' } }],
      [{ certificates: { secret: 'authorities' } }, { secret: { secretName: 'authorities', defaultMode: 440 } }],
    ] as const) {
      const pods = podsOf(await chart.render({ ...least, ...values, databaseTls: { secret: 'database' } }))
      for (const { volumes, containers } of pods) {
        assert.deepEqual(
          volumes.filter(({ name }) => name === 'certificates'),
          [{ name: 'certificates', ...source }],
        )
        assert(volumes.some(({ name }) => name === 'database-tls'))
        const { env, volumeMounts } = containers[0] as Container & { volumeMounts: Values[] }
        const file = env.find(({ name }) => name === 'NODE_EXTRA_CA_CERTS')?.value
        assert.equal(file, '/etc/penstock/certificates/ca.crt')
        assert(volumeMounts.some(({ mountPath }) => mountPath === '/etc/penstock/database-tls'))
      }
    }
  })
})
