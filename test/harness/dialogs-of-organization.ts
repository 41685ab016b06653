import { after, button, choose, click, type Dialog, fill, focus, ofAccount, press } from './dialog-steps.ts'

/** Dialogs of the frame, and of screens about the whole organization. */

export const shell: readonly Dialog[] = [
  {
    name: 'search over everything',
    of: ['shell/palette/palette.tsx'],
    path: () => '/accounts',
    open: click(/^Search or jump to…/),
  },
  {
    name: 'keys',
    of: ['shell/palette/shortcuts.tsx'],
    path: () => '/accounts',
    open: after(focus('Add a sub-account'), press('?')),
  },
  { name: 'calls as curl', of: ['shell/as-curl.tsx'], path: () => '/accounts', open: click('As curl') },
]

export const organization: readonly Dialog[] = [
  {
    name: 'add a sub-account',
    of: ['screens/accounts/save-account.tsx'],
    path: () => '/accounts',
    open: click('Add a sub-account'),
  },
  {
    name: 'actions of a sub-account',
    of: ['screens/accounts/accounts.tsx', 'components/reasoned.tsx'],
    path: () => '/accounts',
    open: click('Actions for Acme Outdoor'),
    kind: 'menu',
  },
  {
    name: 'delete a sub-account',
    of: ['screens/accounts/delete-account.tsx', 'components/confirm.tsx', 'components/form-dialog.tsx'],
    path: () => '/accounts',
    open: choose('Actions for Acme Outdoor', 'Delete'),
  },
  {
    name: 'create an alert rule',
    of: ['screens/alerts/save-rule.tsx'],
    path: () => '/alerts?view=rules',
    open: click('Create alert rule'),
  },
  {
    name: 'delete an alert rule',
    of: ['screens/alerts/rules.tsx'],
    path: () => '/alerts?view=rules',
    open: choose('Actions for Broken ones', 'Delete'),
  },
  {
    name: 'create an API key',
    of: ['screens/api-keys/create-key.tsx'],
    path: () => '/api-keys',
    open: click('Create an API key'),
  },
  {
    name: 'the secret of an API key',
    of: ['screens/api-keys/secret-shown.tsx', 'components/shown-once.tsx'],
    path: () => '/api-keys',
    open: after(
      click('Create an API key'),
      fill('Name', 'For a test'),
      (page) =>
        page
          .getByRole('dialog')
          .getByRole('button', { name: /^(Create|Save)/ })
          .click(),
      (page) => page.getByRole('dialog', { name: 'was created' }).waitFor(),
    ),
    stays: true,
  },
  {
    name: 'actions of an API key',
    of: ['screens/api-keys/api-keys.tsx'],
    path: () => '/api-keys',
    open: click('Actions for Nightly jobs'),
    kind: 'menu',
  },
  {
    name: 'rename an API key',
    of: ['screens/api-keys/rename-key.tsx'],
    path: () => '/api-keys',
    open: choose('Actions for Nightly jobs', 'Rename'),
  },
  {
    name: 'rotate the secret of an API key',
    of: ['screens/api-keys/rotate-key.tsx'],
    path: () => '/api-keys',
    open: choose('Actions for Nightly jobs', 'Rotate the secret'),
  },
  {
    name: 'revoke an API key',
    of: ['screens/api-keys/revoke-key.tsx'],
    path: () => '/api-keys',
    open: choose('Actions for Nightly jobs', 'Revoke'),
  },
  {
    name: 'invite a person',
    of: ['screens/people/invite-person.tsx'],
    path: () => '/people',
    open: click('Invite a person'),
  },
  {
    name: 'the link of an invitation',
    of: ['screens/people/resend-invitation.tsx', 'screens/people/invitation-link.tsx'],
    path: () => '/people',
    // A dialog that waits for the link comes before it.
    open: after(choose('Actions for Robin Vale', 'New invitation link'), (page) =>
      page.getByRole('dialog').getByRole('textbox').waitFor(),
    ),
    stays: true,
  },
  {
    name: 'change the role of a person',
    of: ['screens/people/change-person.tsx'],
    path: () => '/people',
    open: choose('Actions for Robin Vale', 'Change the role'),
  },
  {
    name: 'remove a person',
    of: ['screens/people/people.tsx'],
    path: () => '/people',
    open: choose('Actions for Robin Vale', 'Remove'),
  },
  {
    name: 'an event of the audit log',
    of: ['screens/audit/event-details.tsx'],
    path: () => '/audit',
    open: click(/^Details of event/),
  },
  {
    name: 'erase a person',
    of: ['screens/data-subjects/data-subjects.tsx'],
    path: () => '/find-person',
    open: after((page) => page.getByRole('textbox').first().fill('example.com'), click('Find'), click('Erase')),
  },
  {
    name: 'erase a person at destinations',
    of: ['screens/data-subjects/at-destinations.tsx'],
    path: ofAccount('/find-person'),
    open: after(
      (page) => page.getByRole('textbox').first().fill('ada@example.com'),
      click('Find'),
      click('Erase at destinations'),
    ),
  },
  {
    name: 'set up single sign-on',
    of: ['screens/sign-in-settings/set-single-sign-on.tsx'],
    path: () => '/sign-in-settings',
    open: click('Set up single sign-on'),
  },
  {
    name: 'require a second factor',
    of: ['screens/sign-in-settings/second-factor-card.tsx'],
    path: () => '/sign-in-settings',
    open: click('Require a second factor'),
  },
  {
    name: 'add a webhook',
    of: ['screens/webhooks/webhook-form.tsx'],
    path: () => '/webhooks',
    open: click('Add a webhook'),
  },
  {
    name: 'the secret of a webhook',
    of: ['screens/webhooks/webhook-secret.tsx'],
    path: () => '/webhooks',
    open: after(
      click('Add a webhook'),
      fill('Address', 'https://example.com/other'),
      (page) =>
        page
          .getByRole('dialog')
          .getByRole('button', { name: /^(Add|Save)/ })
          .click(),
      (page) => button(page, 'I have stored the secret').waitFor(),
    ),
    stays: true,
  },
  {
    name: 'a delivery of a webhook',
    of: ['screens/webhook/delivery-details.tsx'],
    path: (scene) => `/webhooks/${scene.webhookId}`,
    open: click('Details of webhook.test'),
  },
  {
    name: 'replay events',
    of: ['screens/webhook/replay-events.tsx'],
    path: (scene) => `/webhooks/${scene.webhookId}`,
    open: choose('Actions', 'Replay'),
  },
  {
    name: 'rotate the secret of a webhook',
    of: ['screens/webhook/rotate-secret.tsx'],
    path: (scene) => `/webhooks/${scene.webhookId}`,
    open: choose('Actions', 'Rotate the secret'),
  },
  {
    name: 'delete a webhook',
    of: ['screens/webhook/webhook.tsx'],
    path: (scene) => `/webhooks/${scene.webhookId}`,
    open: choose('Actions', 'Delete'),
  },
  {
    name: 'end a session',
    of: ['screens/profile/sessions.tsx'],
    path: () => '/profile',
    open: click('Sign out everywhere'),
    as: 'person',
  },
  {
    name: 'remove a passkey',
    of: ['screens/profile/passkeys.tsx'],
    path: () => '/profile',
    open: click('Remove the passkey Laptop'),
    as: 'person',
  },
]
