import type { Page } from 'playwright-core'
import type { Scene } from './console-scene.ts'
import { connectorBySlug } from './fixtures.ts'

/** A screen of the console, as tests open it. */
export type Screen = {
  readonly name: string
  readonly path: (scene: Scene) => string
  /** Expected title. */
  readonly title: RegExp
  /** Further condition before the screen is checked. */
  readonly settle?: (page: Page) => Promise<unknown>
}

const ofAccount = (page: string) => (scene: Scene) => `/accounts/${scene.accountId}${page}`
const ofConnection = (page: string) => (scene: Scene) =>
  `/accounts/${scene.accountId}/connections/${scene.connectionId}${page}`
const dialog = (page: Page) => page.getByRole('dialog').waitFor()
const chart = (page: Page) => page.locator('.recharts-surface').first().waitFor()

/** Every screen, some also with a dialog that is open. */
export const screens: readonly Screen[] = [
  { name: 'overview', path: () => '/', title: /Overview|organization/i, settle: chart },
  { name: 'start', path: ofAccount('/start'), title: /Move your first rows/ },
  { name: 'sub-accounts', path: () => '/accounts', title: /Sub-accounts/ },
  { name: 'sub-account', path: ofAccount(''), title: /Acme Outdoor/, settle: chart },
  { name: 'catalogue', path: ofAccount('/catalogue'), title: /What do you want to move/ },
  {
    name: 'catalogue-route',
    path: ofAccount('/catalogue?q=purchases+to+Meta+and+Google'),
    title: /What do you want to move/,
    settle: (page) => page.getByRole('region', { name: 'Route' }).waitFor(),
  },
  {
    name: 'connector-page',
    path: ofAccount(`/catalogue/${connectorBySlug('postgresql').id}`),
    title: /PostgreSQL/,
    settle: (page) => page.getByRole('region', { name: 'What it accepts' }).waitFor(),
  },
  { name: 'connectors', path: ofAccount('/connectors'), title: /Connectors/ },
  {
    name: 'configure-connector',
    path: (scene) => `/accounts/${scene.accountId}/connectors?configure=${scene.destinationId}`,
    title: /Connectors/,
    settle: dialog,
  },
  {
    name: 'build-source',
    path: ofAccount(`/connectors/${connectorBySlug('http-api').id}/build`),
    title: /API builder/,
    settle: (page) => page.getByRole('button', { name: 'orders', exact: true }).click(),
  },
  { name: 'connections', path: ofAccount('/connections'), title: /Connections/ },
  { name: 'connections-of-all', path: () => '/connections', title: /Connections/ },
  { name: 'new-connection', path: ofAccount('/connections/new'), title: /New connection/ },
  { name: 'connection', path: ofConnection(''), title: /Customers to warehouse/ },
  {
    name: 'transfer',
    path: (scene) => `${ofConnection('')(scene)}/transfers/${scene.transferId}`,
    title: /Transfer of/,
  },
  { name: 'deleted', path: ofAccount('/deleted'), title: /Deleted/ },
  { name: 'audit', path: () => '/audit', title: /Audit log/ },
  { name: 'find-person', path: () => '/find-person', title: /Find one person/ },
  { name: 'alerts', path: () => '/alerts', title: /Alerts/ },
  {
    name: 'create-alert-rule',
    path: () => '/alerts?view=rules',
    title: /Alerts/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Create alert rule' }).click()
      await page.getByRole('checkbox', { name: /no transfer of an active connection/ }).check()
    },
  },
  { name: 'people', path: () => '/people', title: /People/ },
  { name: 'sign-in-settings', path: () => '/sign-in-settings', title: /Sign-in settings/ },
  {
    name: 'set-up-single-sign-on',
    path: () => '/sign-in-settings',
    title: /Sign-in settings/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Set up single sign-on' }).click()
      await page.getByRole('radio', { name: 'Add them when they first sign in' }).check()
      await page.getByRole('checkbox', { name: 'Require single sign-on' }).check()
    },
  },
  { name: 'api-keys', path: () => '/api-keys', title: /API keys/ },
  {
    name: 'create-api-key',
    path: () => '/api-keys',
    title: /API keys/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Create an API key' }).first().click()
      await page.getByRole('radio', { name: 'Selected scopes' }).check()
    },
  },
  { name: 'webhooks', path: () => '/webhooks', title: /Webhooks/ },
  {
    name: 'add-webhook',
    path: () => '/webhooks',
    title: /Webhooks/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Add a webhook' }).first().click()
      await page.getByRole('radio', { name: 'Selected types' }).check()
    },
  },
  {
    name: 'webhook',
    path: (scene) => `/webhooks/${scene.webhookId}`,
    title: /example\.com/,
    settle: (page) => page.getByText('webhook.test').first().waitFor(),
  },
  {
    name: 'webhook-delivery',
    path: (scene) => `/webhooks/${scene.webhookId}`,
    title: /example\.com/,
    settle: (page) => page.getByRole('button', { name: 'Details of webhook.test' }).first().click(),
  },
  { name: 'branding', path: () => '/branding', title: /Branding/ },
  { name: 'connect-links', path: ofAccount('/connect-links'), title: /Connect links/ },
  {
    name: 'create-connect-link',
    path: ofAccount('/connect-links'),
    title: /Connect links/,
    settle: (page) => page.getByRole('button', { name: 'Create a connect link' }).first().click(),
  },
  {
    name: 'streams',
    path: ({ purposesAccountId }) => `/accounts/${purposesAccountId}/streams`,
    title: /Event streams/,
  },
  {
    name: 'stream',
    path: ({ purposesAccountId, streamId }) => `/accounts/${purposesAccountId}/streams/${streamId}`,
    title: /Shop events/,
    settle: (page) => page.getByText('Order Completed').first().waitFor(),
  },
  {
    name: 'stream-event',
    path: ({ purposesAccountId, streamId }) => `/accounts/${purposesAccountId}/streams/${streamId}`,
    title: /Shop events/,
    settle: async (page) => {
      await page.getByRole('button', { name: 'Show values' }).click()
      await page.getByRole('button', { name: /Test event/ }).click()
      await page.getByText('"test-user"').waitFor()
      await page.getByText('Write key is wrong or missing').first().waitFor()
    },
  },
  { name: 'consent', path: ({ purposesAccountId }) => `/accounts/${purposesAccountId}/consent`, title: /Consent/ },
  { name: 'reports', path: () => '/reports', title: /Reports/, settle: chart },
  { name: 'reports-of-sub-account', path: ofAccount('/reports'), title: /Reports/, settle: chart },
]
