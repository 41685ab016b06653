import assert from 'node:assert/strict'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'

/** A destination is described from nothing in the console, for an API that the product does not know. */

const httpApi = connectorBySlug('http-api')
type Member = { handle?: string; points?: number }
const members = new Map<string, Member>()

/** Takes members in the key `intake`, and answers 207 with the positions, from 1, of the refused members. */
const server = http.createServer(async (request, response) => {
  let text = ''
  for await (const piece of request) text += piece
  const json = (value: unknown, status = 200) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  if (request.headers['x-club-key'] !== 'canary-key')
    return json({ fault: `bad key ${request.headers['x-club-key']}` }, 401)
  if (request.method !== 'PUT' || request.url !== '/v7/club/intake') return json({ fault: 'nowhere' }, 404)
  const { intake } = JSON.parse(text) as { intake: Member[] }
  const faults = intake.flatMap(({ handle = '' }, at) =>
    handle.startsWith('@') ? [] : [{ line: at + 1, fault: `handle ${handle} has no @` }],
  )
  for (const one of intake) if (one.handle?.startsWith('@')) members.set(one.handle, one)
  json({ outcome: { faults } }, 207)
})

const expected = `operations:
  add members:
    path: /club/intake
    method: PUT
    batch:
      rows: 50
    body:
      intake: "{{ rows }}"
    columns:
      handle:
        type: text
        required: true
      points: whole number
    result:
      rows:
        index: entry.line
        at: outcome.faults
        first: 1
        reason: "{{ entry.fault }}"
`

describe('a destination, described in the console', { skip }, () => {
  let stage: ConsoleStage
  let url: string
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v7`
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(async () => {
    server.closeAllConnections()
    server.close()
    await stage?.close()
  })

  const begin = async (name: string, definition?: string) => {
    const { id } = await stage.addAccount(name)
    await stage.client.addConnectors({ accountId: id, body: { connectorIds: [httpApi.id] } })
    if (definition !== undefined) {
      const secretConfig = { url, authentication: 'API key', keyName: 'X-Club-Key', apiToken: 'canary-key', definition }
      await stage.client.configureConnector({ accountId: id, id: httpApi.id, body: { secretConfig } })
    }
    return { id, path: `/accounts/${id}/connectors/${httpApi.id}/build` }
  }
  const savedOf = async (id: string) => {
    const { reply } = await stage.client.getConnectorConfiguration({ accountId: id, id: httpApi.id })
    return reply.secretConfig[0]?.configuration.find(({ name }) => name === 'definition')?.value ?? ''
  }
  const panel = (page: Page, name: string) => page.getByRole('region', { name, exact: true })
  const row = (page: Page, n: number) =>
    page
      .getByRole('list', { name: 'Results' })
      .getByRole('listitem')
      .nth(n - 1)

  test('from nothing to rows that the API has, and a saved definition: 15 clicks, 15 fields', async () => {
    const { id } = await begin('From nothing')
    const page = await stage.open(`/accounts/${id}/connectors?configure=${httpApi.id}`)
    const done = { clicks: 0, fields: 0 }
    const click = async (on: Locator) => {
      done.clicks++
      await on.click()
    }
    const fill = async (field: Locator, text: string) => {
      done.fields++
      await field.fill(text)
    }
    const choose = async (field: Locator, option: string) => {
      await click(field)
      await click(page.getByRole('option', { name: option, exact: true }))
    }
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await click(page.getByRole('link', { name: 'API builder' }))
    await page.getByRole('heading', { level: 1, name: 'API builder' }).waitFor()
    await fill(page.getByLabel('Base URL'), url)
    await choose(page.getByLabel('Authentication'), 'API key')
    await fill(page.getByRole('textbox', { name: 'API key or token' }), 'canary-key')
    await fill(page.getByLabel('Key name', { exact: true }), 'X-Club-Key')
    await click(button('Add an operation'))
    await fill(page.getByLabel('Name of the operation'), 'add members')
    await click(button('Add'))
    const ask = panel(page, 'Request')
    await choose(ask.getByLabel('Method'), 'PUT')
    await fill(ask.getByLabel('Path', { exact: true }), '/club/intake')
    await fill(ask.getByLabel('Rows per request'), '50')
    await fill(ask.getByLabel('Body', { exact: true }), '{ "intake": "{{ rows }}" }')
    const columns = panel(page, 'Columns')
    await fill(columns.getByLabel('New columns'), 'handle, points')
    await click(columns.getByRole('button', { name: 'Add columns' }))
    await click(columns.getByLabel('handle is required'))
    await choose(columns.getByLabel('Type of points'), 'Whole number')

    const tries = panel(page, 'Try rows')
    await fill(tries.getByLabel('handle, row 1'), '@ada')
    await fill(tries.getByLabel('points, row 1'), '7')
    await fill(tries.getByLabel('handle, row 2'), 'bob')
    await fill(tries.getByLabel('points, row 3'), '3')
    // Before its response is described, a success accepts every row that was sent.
    await click(tries.getByRole('button', { name: 'Try with 3 rows' }))
    await row(page, 2).getByText('Accepted').waitFor()
    await tries.getByText('"line": 2').waitFor()
    const meaning = panel(page, 'Meaning of a response')
    await choose(meaning.getByLabel('Rejected rows'), 'A list with row numbers')
    await fill(meaning.getByLabel('Path to the list'), 'outcome.faults')
    await fill(meaning.getByLabel('Row number'), 'entry.line')
    await click(meaning.getByLabel('The first row has the number 1'))
    await fill(meaning.getByLabel('Reason of a row'), '{{ entry.fault }}')
    await tries.getByText('have changed. Try again').waitFor()
    members.clear()
    await page.keyboard.press('Control+Enter')
    await row(page, 2).getByText('Rejected').waitFor()
    await row(page, 1).getByText('Accepted').waitFor()
    await row(page, 2).getByText('has no @').waitFor()
    await row(page, 3).getByText('Rejected').waitFor()
    await row(page, 3).getByText('handle', { exact: false }).waitFor()
    await tries.getByText(`PUT ${url}/club/intake`).waitFor()
    await tries.getByText('207', { exact: true }).waitFor()
    assert.deepEqual([...members.values()], [{ handle: '@ada', points: 7 }])
    assert.doesNotMatch(await page.content(), /canary-key/)
    assert.equal(await savedOf(id), '')
    await page.keyboard.press('Control+s')
    await page.getByText('The definition was saved').waitFor()
    assert.equal(await savedOf(id), expected)
    assert.deepEqual(done, { clicks: 15, fields: 15 })
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('from OpenAPI: the operation is complete, and a document that cannot be used has its place', async () => {
    const { id, path } = await begin('Imported')
    const page = await stage.open(path)
    await page.getByRole('button', { name: 'Import an operation' }).click()
    const dialog = page.getByRole('dialog')
    const text = dialog.getByLabel('OpenAPI or JSON Schema')
    const member = {
      type: 'object',
      required: ['handle'],
      properties: { handle: { type: 'string' }, points: { type: 'integer' } },
    }
    const documentOf = (schema: object) =>
      JSON.stringify({
        openapi: '3.1.0',
        servers: [{ url }],
        security: [{ key: [] }],
        components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Club-Key' } } },
        paths: {
          '/club/intake': {
            put: { operationId: 'intake', requestBody: { content: { 'application/json': { schema } } } },
          },
        },
      })
    const submit = () => dialog.getByRole('button', { name: 'Import', exact: true }).click()
    await text.fill(documentOf({ $ref: 'https://example.com/member.json' }))
    await submit()
    await dialog.getByText(/^Line 1, column \d+: .*another document/).waitFor()
    await text.fill('openapi: [')
    await submit()
    await dialog.getByText(/^Line 1, column \d+: /).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    const intake = { type: 'array', maxItems: 20, items: member }
    await text.fill(documentOf({ type: 'object', required: ['intake'], properties: { intake } }))
    await submit()
    const columns = panel(page, 'Columns')
    await columns.getByLabel('points is required').waitFor()
    assert.equal(await columns.getByLabel('handle is required').isChecked(), true)
    assert.equal(await panel(page, 'Request').getByLabel('Rows per request').inputValue(), '20')
    await page.getByRole('button', { name: 'Address and sign-in' }).click()
    assert.equal(await page.getByLabel('Base URL').inputValue(), url)
    await page.getByRole('textbox', { name: 'API key or token' }).fill('canary-key')
    await page.getByRole('button', { name: 'intake', exact: true }).click()
    const tries = panel(page, 'Try rows')
    await tries.getByLabel('handle, row 1').fill('@eve')
    members.clear()
    await tries.getByRole('button', { name: 'Try with 1 row' }).click()
    await row(page, 1).getByText('Accepted').waitFor()
    assert.deepEqual([...members.keys()], ['@eve'])
    await page.keyboard.press('Control+s')
    await page.getByText('The definition was saved').waitFor()
    assert.match(await savedOf(id), /rows: 20/)
  })

  test('with the keyboard only; errors have their line and column, and a refused sign-in its reason without the key', async () => {
    const { id, path } = await begin('Keyboard', expected)
    const page = await stage.open(path)
    const tries = panel(page, 'Try rows')
    await tries.getByLabel('handle, row 1').waitFor()
    await page.keyboard.press('Alt+4')
    // The step has its button first, then its cells.
    const tabTo = async (label: string) => {
      for (let tabs = 0; tabs < 9; tabs++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate<string>('document.activeElement.ariaLabel ?? ""')) === label) return
      }
      assert.fail(`the keyboard does not reach ${label}`)
    }
    for (const [at, text] of ['@a', '@b', '@c'].entries()) {
      await tabTo(`handle, row ${at + 1}`)
      await page.keyboard.type(text)
    }
    members.clear()
    await page.keyboard.press('Control+Enter')
    await row(page, 3).getByText('Accepted').waitFor()
    assert.deepEqual([...members.keys()], ['@a', '@b', '@c'])

    await page.getByRole('radiogroup', { name: 'Edit as' }).getByText('Text').click()
    const text = page.getByRole('textbox', { name: 'Definition' })
    await text.fill(expected.replace('entry.line', 'entry.line +'))
    await page.keyboard.press('Control+Enter')
    await page.getByText('Line 16, column').first().waitFor()
    await text.fill(expected.replace('{{ rows }}', '{{ row }}'))
    await page.keyboard.press('Control+Enter')
    await page.getByText('Line 8, column').first().waitFor()
    await page.getByRole('button', { name: 'Go to the error' }).click()
    await text.fill(expected)
    await page.getByRole('button', { name: 'Address and sign-in' }).click()
    await page.getByRole('radiogroup', { name: 'Edit as' }).getByText('Form').click()
    await page.getByRole('button', { name: 'Replace: API key or token' }).click()
    await page.getByRole('textbox', { name: 'API key or token' }).fill('canary-of-another')
    await page.getByRole('button', { name: 'add members', exact: true }).click()
    await page.keyboard.press('Control+Enter')
    await tries.getByText('The rows were not delivered').waitFor()
    await row(page, 1).getByText('Unknown').waitFor()
    await tries.getByText('401', { exact: true }).waitFor()
    assert.doesNotMatch(await page.content(), /canary-of-another/)
    assert.equal(await savedOf(id), expected)
  })

  for (const look of [
    { width: 1440, height: 1000, theme: 'dark' },
    { width: 390, height: 844, theme: 'light' },
  ] as const) {
    test(`can be used at ${look.width} pixels in the ${look.theme} theme`, async () => {
      const { path } = await begin(`Looks ${look.width}`, expected)
      const page = await stage.open(path, { look })
      const tries = panel(page, 'Try rows')
      await tries.getByLabel('handle, row 1').fill('@ada')
      await tries.getByLabel('handle, row 2').fill('no address')
      await tries.getByRole('button', { name: 'Try with 2 rows' }).click()
      await row(page, 2).getByText('Rejected').waitFor()
      const wider = await page.evaluate<number>(
        'document.documentElement.scrollWidth - document.documentElement.clientWidth',
      )
      assert.ok(wider <= 0, `${wider} px wider`)
      const folder = process.env.PENSTOCK_PICTURES
      if (folder) {
        const path = `${folder}/build-destination-${look.width}-${look.theme}.png`
        await page.screenshot({ path, fullPage: true })
      }
      assert.deepEqual(await accessibilityViolations(page), [])
    })
  }
})
