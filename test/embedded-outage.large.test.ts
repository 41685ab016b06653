import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { commandsOn } from './harness/commands.ts'
import { http, prepareStage, tokenOf } from './harness/process.ts'
import { until } from './harness/until.ts'

/** The embedded PostgreSQL killed under a running service while another process of Penstock starts it again. */

for (const isTaken of [false, true]) {
  test(`the service serves again after another process started it, ${isTaken ? 'on another' : 'on the same'} port`, async (t) => {
    const stage = await prepareStage(t)
    const served = await stage.serve()
    const token = await tokenOf(served, stage.dataDirectory)
    const killed = await stage.postmaster()
    assert(killed)
    process.kill(killed.pid, 'SIGKILL')
    if (isTaken) {
      const stranger = createServer((socket) => socket.destroy())
      t.after(() => stranger.close())
      await until('the port is free', async () => {
        stranger.listen(killed.port, '127.0.0.1')
        return once(stranger, 'listening').catch(() => false)
      })
    }
    const organizations = await commandsOn(stage).json<unknown[]>('org', 'list')
    assert.equal(organizations.length, 1)
    const running = await stage.postmaster()
    assert(running, 'the service still holds it')
    assert.equal(running.port === killed.port, !isTaken)
    await until('the service answers', async () => (await http(served.url, '/accounts', { token })).status === 200)
    await until('it is ready', async () => (await fetch(`${served.url}/readyz`)).ok)
    const added = await http(served.url, '/accounts', { method: 'POST', token, body: { name: 'Afterwards' } })
    assert.equal(added.status, 201)
    await until('its workers are back', () =>
      /"msg":"(?:[^"]* failed; retrying|a database connection|LISTEN connection lost)/.test(served.said.stderr),
    )
    served.signal('SIGTERM')
    assert.equal((await served.ended).code, 0, served.said.stderr)
    assert.equal(await stage.postmaster(), undefined)
  })
}
