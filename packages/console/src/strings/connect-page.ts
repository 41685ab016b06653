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
  takeBack: 'You can end the access at any time where you grant it.',
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
  checkOk: 'The platform answers, and permits what is needed.',
  checkFailed: 'The check did not succeed',
  checkHelp: 'Correct what is wrong and save again, or check again later.',
  checkAgain: 'Check again',
  save: 'Save',
  saveAndCheck: 'Save and check',
  change: 'Change',
  failedHelp: 'Load this page again to try once more.',
  nothing: 'There is nothing to fill in.',
  byClick: (platform: string) => `You grant access at ${platform} in a new window. You enter no password here.`,

  finish: 'Finish',
  finishUnchecked: 'Finish without a successful check',
  finishHelp: 'Connect everything above first.',

  done: 'All done',
  doneHelp: (organization: string) => `${organization} has what it needs. You can close this page.`,
  leading: (host: string) => `Taking you back to ${host} …`,
  cancelled: 'Cancelled',
  cancelledHelp: 'What you saved before stays saved. You can close this page.',
  ended: 'This link cannot be used',
  endedHelp:
    'It was used before, was taken back, has expired, or was not copied whole. Nothing was changed. Ask the one who sent you here for a new link.',
  expired: 'Your time is over',
  expiredHelp:
    'The link was taken back, or has expired. What you saved before stays saved. Ask for a new link to continue.',
}
