import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

describe('alerts in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    // The first rule covers everything, so its incidents would be mixed with the tests' incidents.
    const [first] = (await stage.client.listAlertRules({ query: {} })).reply
    if (first) await stage.client.deleteAlertRule({ id: first.id })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

  test('a rule is created in sentences, finds a failure, is acknowledged, muted, tested and deleted', async () => {
    const { id: accountId } = await stage.addAccount('Acme Outdoor')
    await stage.addSides(accountId)
    const { id: connectionId } = await stage.connect(accountId, 'Orders')
    await stage.sql(`update connections set status = 'broken' where id = '${connectionId}'`)
    const page = await stage.open(`/accounts/${accountId}/alerts?view=rules`)
    await page.getByText('This sub-account has no alert rules of its own').waitFor()
    await page.getByText('Incidents', { exact: true }).click()
    await page.getByText('No open incidents, but 1 connection needs attention').waitFor()
    await page.getByText('Rules', { exact: true }).click()
    await page.getByRole('button', { name: 'Create alert rule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Night watch')
    await dialog.getByRole('checkbox', { name: /rejects more than 5% of its records/ }).check()
    await dialog.getByRole('textbox', { name: 'Share in percent' }).fill('2.5')
    await dialog.getByLabel('Slack webhook URL').fill('ftp://hooks.example.com')
    await dialog.getByText('No e-mail is sent, because no mail server is set up').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('must be an address that begins with https://').waitFor()
    await dialog.getByLabel('Slack webhook URL').fill('https://hooks.example.com/secret-of-slack')
    await dialog.getByRole('button', { name: 'Save' }).click()
    // A rule that is saved and cannot deliver is a warning, which stays until it is closed.
    const notice = page.locator('[data-notice=problem]')
    await notice.getByText('Night watch was saved, but not all of its messages can be sent').waitFor()
    await notice.getByText('Ask the operator to set PENSTOCK_SMTP_URL').waitFor()
    await page.getByRole('main').getByText('1 alert rule cannot send its messages').waitFor()
    await row(page, 'Night watch').getByText('More than 2.5% rejected').filter({ visible: true }).waitFor()
    assert(!(await page.content()).includes('secret-of-slack'))

    await until('the incident is open', async () => {
      const { reply } = await stage.client.listAlertIncidents({ accountId })
      return reply.some(({ ruleName }) => ruleName === 'Night watch')
    })
    await page.goto(page.url().replace('?view=rules', ''))
    const incident = row(page, 'Orders')
    await incident.getByText('Connection broken').filter({ visible: true }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await page.getByRole('button', { name: 'Acknowledge the incident of Orders' }).click()
    await incident.getByText('Acknowledged by First client').waitFor()

    await page.getByText('Rules', { exact: true }).click()
    const act = async (item: string) => {
      await page.getByRole('button', { name: 'Actions for Night watch' }).click()
      await page.getByRole('menuitem', { name: item }).click()
    }
    await row(page, 'Night watch').getByText('1 open incident').waitFor()
    await act('Send a test message')
    await page.getByText('test message').first().waitFor()
    await act('Mute for 1 day')
    await row(page, 'Night watch').getByText('Muted until').waitFor()
    await act('Unmute')
    await row(page, 'Night watch').getByText('Muted until').waitFor({ state: 'detached' })
    await act('Edit')
    assert.equal(await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).inputValue(), 'Night watch')
    await page.getByRole('dialog').getByRole('textbox', { name: 'Name' }).fill('Day watch')
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Day watch was saved').waitFor()
    const [rule] = (await stage.client.listAlertRules({ accountId })).reply
    assert.deepEqual([rule?.slackUrl, rule?.conditions.rejectedPercent], ['********', 2.5])

    await page.goto(`${stage.url}/accounts/${accountId}`)
    await page.getByRole('link', { name: '1 open incident' }).click()
    await row(page, 'Orders').waitFor()
    await page.getByText('Rules', { exact: true }).click()
    await page.getByRole('button', { name: 'Actions for Day watch' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('This sub-account has no alert rules of its own').waitFor()
  })
})
