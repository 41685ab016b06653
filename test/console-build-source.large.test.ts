import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'

/** The source of an HTTP API is described with its answers, in the console. */

const httpApi = connectorBySlug('http-api')
const orders = Array.from({ length: 30 }, (_, index) => ({
  id: index + 1,
  total: index === 3 ? 'none' : index + 0.5,
  buyer: { country: index % 2 ? 'FR' : 'PT', email: `buyer${index}@example.com` },
  tags: ['new'],
}))

/** The text after the cursor. */
const selected = 'document.activeElement.value.slice(document.activeElement.selectionStart).slice(0, 3)'

const server = http.createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost')
  const json = (value: unknown, status = 200, headers = {}) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value))
  if (pathname === '/v2/old') return void response.writeHead(301, { location: '/v2/orders' }).end()
  if (pathname === '/v2/page')
    return void response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Hello</h1>')
  if (request.headers.authorization !== 'Bearer canary-key') return json({ message: 'no' }, 401)
  if (pathname !== '/v2/orders') return json({ message: 'nothing here' }, 404)
  const from = Number(searchParams.get('from') ?? 0)
  const next = from + 10 < orders.length ? `/v2/orders?from=${from + 10}` : null
  return json({ data: { orders: orders.slice(from, from + 10) }, meta: { next, total: orders.length } })
})

describe('an HTTP API, built in the console', { skip }, () => {
  let stage: ConsoleStage
  let origin: string
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(async () => {
    server.closeAllConnections()
    server.close()
    await stage?.close()
  })

  const begin = async (name: string, secretConfig?: Record<string, string>) => {
    const { id } = await stage.addAccount(name)
    await stage.client.addConnectors({ accountId: id, body: { connectorIds: [httpApi.id] } })
    if (secretConfig) await stage.client.configureConnector({ accountId: id, id: httpApi.id, body: { secretConfig } })
    return { id, path: `/accounts/${id}/connectors/${httpApi.id}/build` }
  }
  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const view = (page: Page) => page.getByRole('radiogroup', { name: 'Edit as' })
  const send = (page: Page) => page.getByRole('button', { name: 'Send request' }).click()
  const savedOf = async (id: string) => {
    const { reply } = await stage.client.getConnectorConfiguration({ accountId: id, id: httpApi.id })
    const fields = reply.secretConfig[0]?.configuration ?? []
    return fields.find(({ name }) => name === 'definition')?.value ?? ''
  }
  const base = () => ({ url: `${origin}/v2`, authentication: 'bearer token', apiToken: 'canary-key' })

  test('from nothing: sign-in, a stream, its answer, its records, its rows, saved', async () => {
    const { id } = await begin('From nothing')
    const page = await stage.open(`/accounts/${id}/connectors?configure=${httpApi.id}`)
    await page.getByRole('link', { name: 'API builder' }).click()
    await page.getByRole('heading', { level: 1, name: 'API builder' }).waitFor()
    await page.getByLabel('Base URL').fill(`${origin}/v2`)
    await page.getByLabel('Authentication').click()
    await page.getByRole('option', { name: 'Bearer token' }).click()
    await page.getByRole('textbox', { name: 'API key or token' }).fill('canary-key')
    await page.getByRole('button', { name: 'Add a stream' }).click()
    await page.getByLabel('Name of the stream').fill('orders')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    await panel(page, 'Request').getByLabel('Path', { exact: true }).fill('/orders')
    await send(page)
    await panel(page, 'Response').getByText('200', { exact: true }).waitFor()
    await page.getByText('The response has a list at data.orders, with 10 objects.').waitFor()
    await page.getByRole('button', { name: 'Use it' }).click()
    await page.getByText('Pagination found: URL in the response (meta.next).').waitFor()
    await page.getByRole('button', { name: 'Use it' }).click()
    const tree = page.getByRole('tree', { name: 'Response as a tree' })
    await tree.getByRole('treeitem', { name: 'id:' }).click()
    await tree.getByRole('treeitem', { name: 'total:' }).first().click()
    // With the keyboard: the object of the buyer, its country.
    await tree.getByRole('treeitem', { name: 'buyer:' }).focus()
    for (const key of ['ArrowRight', 'ArrowDown', 'Enter']) await page.keyboard.press(key)
    await tree.getByRole('treeitem', { name: 'country:', selected: true }).waitFor()
    await page.keyboard.press('Control+Enter')
    const rows = panel(page, 'Rows')
    await rows.getByText('10 rows, 3 columns').waitFor()
    await rows.getByText('1 value does not have the type of its column.').waitFor()
    await rows.getByText('none not of the type number').waitFor()
    await page.getByRole('button', { name: 'Next page' }).click()
    await page.getByText('Page 2').waitFor()
    await rows.getByRole('cell', { name: '20', exact: true }).waitFor()
    assert.doesNotMatch(await page.content(), /canary-key/)
    assert.equal(await savedOf(id), '')
    await page.keyboard.press('Control+s')
    await page.getByText('The definition was saved').waitFor()
    const columns = 'columns:\n      - id\n      - total\n      - buyer.country\n'
    assert.equal(
      await savedOf(id),
      `streams:\n  orders:\n    path: /orders\n    records: data.orders\n    pages:\n      by: url\n      at: meta.next\n    ${columns}`,
    )
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('the text and the form are one, and comments stay', async () => {
    const definition =
      '# Orders\nstreams:\n  # All of them\n  orders:\n    path: /orders # open ones\n    records: data.orders\n'
    const { id, path } = await begin('Text', { ...base(), definition })
    const page = await stage.open(path)
    const ask = panel(page, 'Request')
    await ask.getByRole('button', { name: 'Add a parameter' }).click()
    await ask.getByLabel('Parameters: name 1').fill('from')
    await ask.getByLabel('Parameters: value 1').fill('20')
    await ask.getByLabel('Pagination').click()
    await page.getByRole('option', { name: 'Page number' }).click()
    await ask.getByLabel('Parameter', { exact: true }).fill('page')
    await view(page).getByText('Text').click()
    const text = page.getByRole('textbox', { name: 'Definition' })
    const written = `${definition}    query:\n      from: "20"\n    pages:\n      by: page\n      parameter: page\n`
    assert.equal(await text.inputValue(), written)
    await text.fill(written.replace('by: page', 'by: pag'))
    await page.keyboard.press('Control+Enter')
    await page
      .getByText(/pages.by|by must be one of/)
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'Go to the error' }).click()
    assert.equal(await page.evaluate<string>(selected), 'pag')
    await text.fill('streams: {')
    await page
      .getByText(/^Line 1, column/)
      .first()
      .waitFor()
    await view(page).getByText('Form').click()
    await page.getByText('The text contains an error').waitFor()
    await view(page).getByText('Text').click()
    await text.fill(written)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The definition was saved').waitFor()
    assert.equal(await savedOf(id), written)
  })

  test('answers that cannot be used say what to do', async () => {
    const definition =
      'streams: { old: { path: /old }, page: { path: /page }, nothing: { path: /nothing }, orders: { path: /orders } }'
    const { path } = await begin('Failing', { ...base(), definition })
    const page = await stage.open(path)
    const answer = panel(page, 'Response')
    const stream = async (name: string) => {
      await page.getByRole('button', { name, exact: true }).click()
      await send(page)
    }
    await send(page)
    await answer.getByText('The API redirects to /v2/orders.').waitFor()
    await stream('page')
    await answer.getByText('<h1>Hello</h1>').waitFor()
    await answer.getByText('something other than JSON').waitFor()
    await stream('nothing')
    await answer.getByText('Check the path and the base URL.').waitFor()
    await page.getByRole('button', { name: 'Address and sign-in' }).click()
    await page.getByLabel('Base URL').fill('http://127.0.0.1:1')
    await stream('orders')
    // The saved key does not go to another server.
    await page.getByText(/saved secrets are not reused/).waitFor()
  })

  for (const look of [
    { width: 1440, height: 1000, theme: 'dark' },
    { width: 390, height: 844, theme: 'light' },
  ] as const) {
    test(`can be used at ${look.width} pixels in the ${look.theme} theme`, async () => {
      const definition = 'streams: { orders: { path: /orders, records: data.orders, columns: [id, total] } }'
      const { path } = await begin(`Looks ${look.width}`, { ...base(), definition })
      const page = await stage.open(path, { look })
      await send(page)
      await panel(page, 'Rows').getByText('10 rows, 2 columns').waitFor()
      const wider = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.ok(wider <= 0, `${wider} px wider`)
      const folder = process.env.PENSTOCK_PICTURES
      if (folder)
        await page.screenshot({ path: `${folder}/build-source-${look.width}-${look.theme}.png`, fullPage: true })
      assert.deepEqual(await accessibilityViolations(page), [])
    })
  }
})
