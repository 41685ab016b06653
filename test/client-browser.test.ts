import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { stripTypeScriptTypes } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { launchBrowser, openPage, skip } from './harness/browser.ts'
import { startTestService, type TestService } from './harness/service.ts'

/** The published client, on a page of another site, in a browser without anything else of ours. */

const root = join(import.meta.dirname, '..')

describe('the published client in a browser', { skip }, () => {
  let built: string
  let site: Server
  let origin: string
  let service: TestService
  let baseUrl: string
  let browser: Browser
  before(async () => {
    built = await mkdtemp(join(tmpdir(), 'penstock-client-'))
    execFileSync(process.execPath, [join(root, 'packages/client/build.ts'), built], { stdio: 'pipe' })
    site = createServer(async ({ url = '/' }, response) => {
      if (url === '/')
        return response.setHeader('content-type', 'text/html').end('<!doctype html><title>A page</title>')
      const script = await readFile(join(built, basename(url)), 'utf8').catch(() => undefined)
      if (script === undefined) return response.writeHead(404).end()
      return response.setHeader('content-type', 'text/javascript').end(script)
    })
    site.listen(0, '127.0.0.1')
    await new Promise((resolve) => site.once('listening', resolve))
    origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
    service = await startTestService({ PENSTOCK_CORS_ORIGINS: origin })
    baseUrl = await service.service.app.listen({ host: '127.0.0.1', port: 0 })
    browser = await launchBrowser()
  })
  after(async () => {
    await browser?.close()
    await service?.close()
    site?.close()
    await rm(built, { recursive: true, force: true })
  })

  /** Runs a module on the page, and returns what it logged. */
  async function runModule(text: string, env: Record<string, string>): Promise<string[]> {
    const { page, close } = await openPage(browser, origin)
    const lines: string[] = []
    page.on('console', (message) => message.type() === 'log' && lines.push(message.text()))
    await page.goto('/')
    await page.evaluate((given) => Object.assign(globalThis, { process: { env: given } }), env)
    const module = text.replaceAll("'@penstock/client'", `'${origin}/index.js'`)
    await page.evaluate(
      (source) => import(URL.createObjectURL(new Blob([source], { type: 'text/javascript' }))),
      module,
    )
    await close()
    return lines
  }
  const exampleOf = async (name: string): Promise<string> => {
    const readme = await readFile(join(root, 'packages/client/README.md'), 'utf8')
    const examples = [...readme.matchAll(/```(?:js|ts)\n([\s\S]*?)```/g)].map(([, example = '']) => example)
    const found = examples.find((example) => example.includes(name)) ?? assert.fail(`There is no example of ${name}.`)
    return stripTypeScriptTypes(found)
  }

  test('runs the example of its README', async () => {
    const { clientId, clientSecret } = await service.addOrganization()
    const env = { PENSTOCK_URL: baseUrl, PENSTOCK_CLIENT_ID: clientId, PENSTOCK_CLIENT_SECRET: clientSecret }
    const lines = await runModule(await exampleOf('createClient'), env)
    assert.match(lines[0] ?? '', /^[0-9a-f]{16} Acme$/)
    assert.match(lines.at(-1) ?? '', /^not_found Not found\./)
  })

  test('verifies a webhook as its README says, and refuses one that was changed', async () => {
    const secret = `whsec_${randomBytes(24).toString('base64')}`
    const body = JSON.stringify({ type: 'transfer.failed', connectionId: 'c', data: { errorCode: 'access_denied' } })
    const time = new Date()
    const headers = {
      'webhook-id': 'e1',
      'webhook-timestamp': String(Math.floor(time.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('e1', time, body),
    }
    const calls = [body, body.replace('failed', 'partial')].map(
      (text) =>
        `console.log((await receive(new Request('https://example.com', ${JSON.stringify({ method: 'POST', headers, body: text })}))).status)`,
    )
    const lines = await runModule(`${await exampleOf('verifyWebhook')}\n${calls.join('\n')}`, {
      WEBHOOK_SECRET: secret,
    })
    assert.equal(lines[0], 'c access_denied')
    assert.equal(lines[1], '204')
    assert.match(lines[2] ?? '', /^4\d\d$/)
  })
})
