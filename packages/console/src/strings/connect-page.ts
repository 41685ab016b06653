import { limits } from '@penstock/wire'

const list = new Intl.ListFormat('en-GB')

/** The texts of the page of a connect link. Its readers know the organization, and not Penstock. */
export const connectPage = {
  title: (names: readonly string[]) => `Connect ${list.format(names)}`,
  asks: (organization: string, account: string, names: readonly string[]) =>
    `${organization} asks you to connect ${list.format(names)} for ${account}.`,
  what: 'What happens',
  access: (organization: string, platforms: readonly string[]) =>
    `${organization} can then move data between its service and your account at ${list.format(platforms)}.`,
  secrets: (organization: string) =>
    `Passwords and tokens that you enter are encrypted. No one can read them again, not even ${organization}.`,
  connection: (name: string, activates: boolean) =>
    activates
      ? `When you finish, the connection “${name}” is set up and switched on.`
      : `When you finish, the connection “${name}” is set up. It moves no data until it is switched on.`,
  takeBack: 'You can withdraw the access at any time, on the platform where you grant it.',
  careful: 'Continue only if you know who sent you here.',
  time: `You have ${limits.connectPageMinutes} minutes once you continue.`,
  continue: 'Continue',
  decline: 'Cancel',
  by: 'Secured by Penstock',

  notYet: 'Not connected yet',
  ready: 'Connected',
  unchecked: 'Saved',
  failed: 'Check failed',
  checking: 'Checking …',
  checkOk: 'The platform answers and grants all required permissions.',
  checkFailed: 'The check failed',
  checkHelp: 'Correct the values and save again, or check again later.',
  checkAgain: 'Check again',
  save: 'Save',
  saveAndCheck: 'Save and check',
  change: 'Change',
  failedHelp: 'Reload this page to try again.',
  nothing: 'There is nothing to fill in.',
  byClick: (platform: string) => `You grant access at ${platform} in a new window. You enter no password here.`,

  finish: 'Finish',
  finishUnchecked: 'Finish without a successful check',
  finishHelp: 'Connect everything above first.',

  done: 'All done',
  doneHelp: (organization: string) => `${organization} has what it needs. You can close this page.`,
  leading: (host: string) => `Taking you back to ${host} …`,
  cancelled: 'Cancelled',
  cancelledHelp: 'Everything that you saved is kept. You can close this page.',
  ended: 'This link cannot be used',
  endedHelp:
    'It was already used, was revoked, has expired, or was not copied completely. Nothing was changed. Ask the person who sent it to you for a new link.',
  expired: 'Your time is up',
  expiredHelp:
    'The link was revoked or has expired. Everything that you saved is kept. Ask for a new link to continue.',
}
