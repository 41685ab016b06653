import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { runnersOf } from './harness/children.ts'
import { holdLock } from './harness/database.ts'
import { localFolder, postgresql } from './harness/transfers.ts'
import { until } from './harness/until.ts'
import { type ProcessFixture, startProcessFixture } from './harness/worker-processes.ts'

/** Connections that run after others, over workers that are killed, and the programs of the guides for orchestrators. */

async function connectFile(fixture: ProcessFixture, table: string): Promise<string> {
  await writeFile(join(fixture.folder, `${table}.csv`), 'id,name\n1,someone\n2,another\n')
  await fixture.target.query(`create table ${table} (id int not null, name text)`)
  return fixture.connect(localFolder, { files: `${table}.csv` }, postgresql, { table, writeMode: 'Insert' })
}

const transfersOf = async ({ caller, accountId }: ProcessFixture, id: string) =>
  caller.expect(caller.call('listTransfers', { accountId, id }))

test('a worker that is killed between the end of a transfer and the start of its dependent loses none and doubles none', async (t) => {
  const fixture = await startProcessFixture(t)
  const { accountId, caller, service } = fixture
  const [upstream, dependent] = [await connectFile(fixture, 'upstream'), await connectFile(fixture, 'dependent')]
  const body = { runAfter: [upstream] }
  await caller.expect(caller.call('setRunConditions', { accountId, id: dependent, body }))
  // No worker can start the dependent one while its row is locked.
  const lock = await holdLock(
    service.databaseUrl,
    `select from connections where id = '${dependent}' for no key update`,
  )
  const { id } = await fixture.start(upstream)
  const worker = fixture.spawnWorker()
  assert.equal((await fixture.ended(upstream, id)).status, 'succeeded')
  for (const pid of [worker.pid, ...runnersOf(worker.pid)]) process.kill(pid, 'SIGKILL')
  await worker.ended
  assert.deepEqual(await transfersOf(fixture, dependent), [])
  await lock[Symbol.asyncDispose]()
  fixture.spawnWorker()
  await until('the dependent transfer has ended', async () => {
    const [transfer] = await transfersOf(fixture, dependent)
    return transfer?.status === 'succeeded'
  })
  const { rows } = await service.database.pool.query('select count(*)::int as notes from dependent_checks')
  assert.deepEqual(rows, [{ notes: 0 }])
  assert.deepEqual(
    (await transfersOf(fixture, dependent)).map(({ trigger, startedBy }) => [trigger, startedBy?.id]),
    [['dependency', upstream]],
  )
})

const noPython = spawnSync('python3', ['--version']).status === 0 ? false : 'python3 is not installed'
const sections = ['Airflow', 'Dagster', 'Prefect', 'dbt'] as const
const guide = readFileSync(join(import.meta.dirname, '../docs/orchestrators.md'), 'utf8')
/** The first program below a heading. */
const programOf = (heading: string) => {
  const [, section = ''] = guide.split(`\n## ${heading}\n`)
  return /^```python\n([\s\S]*?)^```$/m.exec(section.split('\n## ')[0] ?? '')?.[1] ?? assert.fail(`no ${heading}`)
}

/** Modules that replace the orchestrators: they call the function of a task as the orchestrator does. */
const standIns: Record<string, string> = {
  'airflow/__init__.py': '',
  'airflow/decorators.py': `
class Ti:
    dag_id = "penstock"; run_id = "manual__1"; map_index = -1; try_number = 1
class Node:
    def __rshift__(self, other): return other
def task(**_):
    def decorate(function):
        class Task:
            def override(self, task_id):
                def call(connection_id):
                    ti = Ti(); ti.task_id = task_id
                    print(task_id, function(connection_id, ti=ti)); return Node()
                return call
        return Task()
    return decorate
def dag(**_): return lambda function: function
`,
  'dagster.py': `
class AssetExecutionContext: run_id = "run"; retry_number = 0
def RetryPolicy(**_): return None
def MaterializeResult(metadata): return metadata
def asset(name, **_): return lambda function: (name, function)
class Definitions:
    def __init__(self, assets):
        for name, function in assets: print(name, function(AssetExecutionContext()))
`,
  'prefect/__init__.py': `
def task(**_): return lambda function: lambda *given: print(function(*given))
def flow(function): return function
`,
  'prefect/runtime.py': `
import uuid
class TaskRun:
    run_count = 1
    id = property(lambda self: uuid.uuid4())
task_run = TaskRun()
`,
  'subprocess.py': 'def run(command, check): print(command)\n',
}

describe('the programs of the guides', { skip: noPython }, () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'penstock-python-'))
  })
  after(() => rm(folder, { recursive: true, force: true }))

  test('start a transfer, wait, fail if it failed, and repeat no start', async (t) => {
    const fixture = await startProcessFixture(t)
    const { accountId, caller, service } = fixture
    const orders = await connectFile(fixture, 'orders')
    const audience = await connectFile(fixture, 'audience')
    const key = await caller.expect(
      caller.call('createClient', { body: { name: 'Orchestrator', scopes: ['transfers:run', 'transfers:read'] } }),
    )
    fixture.spawnWorker()
    for (const name of ['airflow', 'prefect']) await mkdir(join(folder, name))
    const library = programOf('Start a transfer, wait, and fail with it')
    await writeFile(join(folder, 'penstock_transfer.py'), library.replace('poll_seconds=10', 'poll_seconds=0.2'))
    for (const name of sections) await writeFile(join(folder, `run_${name}.py`), programOf(name))
    for (const [name, text] of Object.entries(standIns)) await writeFile(join(folder, name), text)
    const env = {
      PATH: process.env.PATH,
      PENSTOCK_URL: await service.service.app.listen({ host: '127.0.0.1', port: 0 }),
      PENSTOCK_CLIENT_ID: key.id,
      PENSTOCK_CLIENT_SECRET: key.clientSecret,
      ACCOUNT_ID: accountId,
      ORDERS_CONNECTION_ID: orders,
      AUDIENCE_CONNECTION_ID: audience,
    }
    const python = (...given: string[]) =>
      new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
        execFile('python3', given, { cwd: folder, env }, (error, stdout, stderr) =>
          resolve({ code: error ? 1 : 0, stdout, stderr }),
        )
      })
    const counted = async () => (await transfersOf(fixture, orders)).length
    for (const name of sections) {
      const had = await counted()
      const { code, stdout, stderr } = await python(`run_${name}.py`)
      assert.equal(code, 0, `${name}: ${stdout}\n${stderr}`)
      assert.match(stdout, /'accepted': 2/, name)
      assert.equal(await counted(), had + 1, name)
    }
    // The same key: the first answer again, whose transfer has ended by now.
    const twice = `
import os
from penstock_transfer import Penstock, run_transfer
p = Penstock(os.environ["PENSTOCK_URL"], os.environ["PENSTOCK_CLIENT_ID"], os.environ["PENSTOCK_CLIENT_SECRET"])
run = lambda: run_transfer(p, os.environ["ACCOUNT_ID"], os.environ["ORDERS_CONNECTION_ID"], "the same key")["id"]
first = run()
p.token = "expired"
assert first == run()
`
    const repeated = await python('-c', twice)
    assert.equal(repeated.code, 0, repeated.stderr)
    await fixture.target.query('drop table orders')
    const failed = await python('run_Prefect.py')
    assert.equal(failed.code, 1)
    assert.match(failed.stderr, /TransferFailed: The transfer \w+ is failed\./)
  })
})
