import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { Analytics } from '@segment/analytics-node'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, postgresql, startConsole } from './harness/console.ts'
import { personAt } from './harness/person.ts'
import { until } from './harness/until.ts'

/** Event streams in the console (docs/event-streams.md). */

describe('event streams in the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('from nothing to an event of a Segment SDK in a table of PostgreSQL, in at most 8 clicks', async () => {
    const { id: accountId } = await stage.addAccount('Events')
    await stage.client.addConnectors({ accountId, body: { connectorIds: [postgresql.id] } })
    await stage.client.configureConnector({
      accountId,
      id: postgresql.id,
      body: { secretConfig: stage.targetSecrets },
    })
    const page = await stage.open(`/accounts/${accountId}`)
    const me = personAt(page)
    await me.click(page.getByRole('link', { name: 'Event streams' }))
    await me.click(page.getByRole('button', { name: 'New stream' }).first())
    await me.type(page.getByRole('dialog').getByRole('textbox', { name: 'Name' }), 'Shop clicks')
    await me.click(page.getByRole('button', { name: 'Create', exact: true }))
    await page.getByRole('heading', { level: 1, name: 'Shop clicks' }).waitFor()
    const writeKey = await page.getByRole('textbox', { name: 'Write key' }).inputValue()
    await page.getByText('Waiting for the first event').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    assert((await page.getByRole('region', { name: 'Examples' }).innerText()).includes(writeKey))

    const host = await stage.client.getStream({ accountId, id: streamIdOf(page.url()) }).then(({ reply }) => reply.host)
    const analytics = new Analytics({ writeKey, host, flushAt: 1 })
    analytics.track({ userId: 'u1', event: 'Order Completed', properties: { total: 39.9 } })
    await analytics.closeAndFlush()
    await page.getByText('Receiving').waitFor()
    // The event is on the page, without its values.
    const newest = page.getByRole('region', { name: 'Newest events' })
    await newest
      .getByRole('button', { name: /Order Completed/ })
      .getByText('No connection reads it')
      .waitFor()
    assert(!(await newest.innerText()).includes('u1'))
    await page.getByRole('region', { name: 'Columns seen' }).getByText('properties.total').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    await me.click(page.getByRole('button', { name: 'Create a connection' }))
    await me.click(page.getByRole('button', { name: /^PostgreSQL/ }))
    await me.click(page.getByRole('button', { name: 'Create the connection' }))
    await me.click(page.getByRole('button', { name: 'Continue to review' }))
    await me.click(page.getByRole('button', { name: 'Activate and run' }))
    const row = await until('the event is in the table', async () => {
      const found = await stage.target.query(`select * from information_schema.tables where table_name = 'shop_clicks'`)
      if (found.rowCount === 0) return undefined
      return (await stage.target.query('select * from shop_clicks')).rows[0]
    })
    assert.deepEqual([row.event, row.userId], ['Order Completed', 'u1'])
    me.assertAtMost({ clicks: 8, typed: 1 })

    // Events move as they come, and the page of the stream says how far behind the connection is.
    await page.getByRole('link', { name: 'Connections', exact: true }).first().click()
    await page.getByRole('link', { name: 'Shop clicks → PostgreSQL' }).click()
    await page
      .getByRole('button', { name: 'Set schedule' })
      .or(page.getByRole('button', { name: 'Set a schedule' }))
      .first()
      .click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await page.getByText('Continuously, as events arrive').waitFor()
    const later = new Analytics({ writeKey, host, flushAt: 1 })
    later.track({ userId: 'u2', event: 'Order Completed' })
    await later.closeAndFlush()
    await until('the next event came by itself', async () => {
      const { rowCount } = await stage.target.query('select from shop_clicks')
      return rowCount === 2
    })
    await page.getByRole('link', { name: 'Event streams' }).click()
    await page.getByRole('link', { name: 'Shop clicks' }).click()
    await page.getByText('Up to date').waitFor()
    const event = newest.getByRole('button', { name: /Order Completed/ }).first()
    await event.getByText('Delivered').waitFor()
    await event.press('Enter')
    await newest.getByRole('link', { name: 'Delivered by this transfer' }).waitFor()
    await newest.getByRole('button', { name: 'Show values' }).click()
    await newest.getByText('"u2"').waitFor()
    await newest.getByRole('searchbox', { name: 'Search events' }).fill('U2')
    await newest.getByText('Searched the newest 2 events.').waitFor()
    assert.equal(await newest.getByRole('button', { name: /Order Completed/ }).count(), 1)
    await newest.getByRole('searchbox', { name: 'Search events' }).fill('nobody')
    await newest.getByText('No match in the newest 2 events.').waitFor()
    await newest.getByRole('searchbox', { name: 'Search events' }).fill('')
    await newest.getByText('Refused').click()
    await newest.getByText('No events with this result among the newest.').waitFor()
    await newest.getByText('All', { exact: true }).click()
    await newest
      .getByRole('button', { name: /Order Completed/ })
      .nth(1)
      .waitFor()
    await page.getByRole('img', { name: 'Events by time: 2 accepted, 0 duplicates, 0 refused' }).waitFor()
    await page.getByRole('region', { name: 'Columns seen' }).getByText('in 2 of the newest 2').first().waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])

    // While it is paused, newer events are only counted.
    await newest.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await newest.getByText('Paused (1 newer)').waitFor()
    assert.equal(await newest.getByText('Test event').count(), 0)
    await newest.getByRole('button', { name: 'Continue' }).click()
    await newest
      .getByRole('button', { name: /Test event/ })
      .getByText('Delivered')
      .waitFor()
    await until(
      'the test event is delivered too',
      async () => (await stage.target.query('select from shop_clicks')).rowCount === 3,
    )
    assert(!(await page.content()).includes(writeKey), 'the key is not shown again')
  })
})

const streamIdOf = (address: string): string => new URL(address).pathname.split('/').at(-1) ?? ''
