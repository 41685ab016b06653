import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, preparePeople, startConsole } from './harness/console.ts'
import { connectorBySlug } from './harness/fixtures.ts'

const mailchimp = connectorBySlug('mailchimp')

describe('one person in the kept records, in the console', { skip }, () => {
  let stage: ConsoleStage
  let accountId: string
  before(async () => {
    stage = await startConsole()
    await preparePeople(stage, 20)
    accountId = (await stage.addAccount('Acme Outdoor')).id
    await stage.addSides(accountId)
    const connection = await stage.connect(accountId, 'Carries people')
    await stage.run(accountId, connection.id)
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  /** A value of a record that was rejected. */
  const keptValue = async () => {
    const [transfer] = (await stage.client.listAllTransfers({ accountId, query: {} })).reply
    assert(transfer)
    const { reply: rejects } = await stage.client.listRejects({
      accountId,
      id: transfer.connectionId,
      transferId: transfer.id,
      query: {},
    })
    const value = Object.values(rejects[0]?.record ?? {}).find((text) => (text ?? '').length > 5) ?? ''
    assert.notEqual(value, '')
    return value
  }

  test('is searched from the page of all sub-accounts, which shows who changed what', async () => {
    const value = await keptValue()
    const page = await stage.open('/accounts')
    await page.getByRole('region', { name: 'Who changed what' }).getByText('Create connection').first().waitFor()
    const card = page.getByRole('region', { name: 'Find one person' })
    await card.getByRole('button', { name: 'Find' }).click()
    await card.getByText('Enter at least one value.').waitFor()
    await card.getByRole('textbox').fill(value)
    await card.getByRole('button', { name: 'Find' }).click()
    await page.getByText(/records? found, of \d+ kept records/).waitFor()
    await page.getByRole('link', { name: 'Carries people' }).first().waitFor()
    assert(!page.url().includes(encodeURIComponent(value)), 'the address does not name the person')
    assert.equal(await page.getByRole('textbox', { name: /Values of the person/ }).inputValue(), value)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('is found with its transfer, and erased after a question', async () => {
    const value = await keptValue()
    const page = await stage.open(`/accounts/${accountId}/find-person`)
    const box = page.getByRole('textbox', { name: /Values of the person/ })
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText('Enter at least one value.').waitFor()
    await box.fill('abc')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText(/at least 5 characters/).waitFor()
    await box.fill(value)
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText(/records? found, of \d+ kept records/).waitFor()
    await page.getByRole('link', { name: 'Carries people' }).first().waitFor()
    assert(!page.url().includes(encodeURIComponent(value)), 'the address does not name the person')
    const elsewhere = page.getByRole('region', { name: 'Where else to look' })
    await elsewhere.getByText('They are not kept, so this search cannot find them.').waitFor()
    await elsewhere.getByText('No uploaded file is kept.').waitFor()
    await elsewhere.getByText('No one in this organization has one of these e-mail addresses.').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Erase', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase this person?' })
    await dialog.waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Erase' }).click()
    await page.getByText(/records? (?:was|were) erased/).waitFor()
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    await page.getByText('Nothing is kept about this person').waitFor()
  })

  test('is erased at destinations after a question that shows what is sent where, and what is not known', async () => {
    await stage.client.addConnectors({ accountId, body: { connectorIds: [mailchimp.id] } })
    // No server has this address: it is the example of a data center.
    const secretConfig = { apiKey: 'canary0123456789-zz999' }
    await stage.client.configureConnector({ accountId, id: mailchimp.id, body: { secretConfig } })
    const page = await stage.open(`/accounts/${accountId}/find-person`)
    await page.getByRole('textbox', { name: /Values of the person/ }).fill('jane@example.com\n+4930123456')
    await page.getByRole('button', { name: 'Find', exact: true }).click()
    const card = page.getByRole('region', { name: 'At destinations' })
    await card.getByText('Deletes the member permanently', { exact: false }).waitFor()
    await card.getByText('Erase the person there yourself', { exact: false }).first().waitFor()
    await page.getByRole('button', { name: 'Erase at destinations' }).click()
    const dialog = page.getByRole('dialog', { name: 'Erase this person at destinations?' })
    await dialog.getByText('Asked by: jane@example.com.', { exact: false }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Erase at 1 destination' }).click()
    await card.getByText('jane@example.com: not known. Erase again.', { exact: false }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
  })
})
