/** The texts of connectors that are connected with a click, wherever they are shown. */
export const authorization = {
  connect: (platform: string) => `Connect to ${platform}`,
  connectHelp: (platform: string) =>
    `Grant access at ${platform} in a new tab. There are no credentials to copy. What is granted is sealed and saved in this connector.`,
  reconnect: 'Reconnect',
  reconnectOf: (connector: string) => `Reconnect ${connector}`,
  title: (platform: string) => `Access to ${platform}`,
  waiting: (platform: string) => `Waiting for ${platform}`,
  waitingHelp: (platform: string) =>
    `Grant access in the new tab. This page shows it a few seconds later. If the tab was closed, connect to ${platform} again.`,
  declined: 'Access was not granted',
  declinedHelp: (platform: string) =>
    `You declined at ${platform}, or your user there may not grant this access. Nothing was changed. To try again, connect to ${platform} once more.`,
  failed: (platform: string) => `${platform} was not connected`,
  failedHelp: (platform: string) =>
    `The tab that was opened says why. Nothing was changed. To try again, connect to ${platform} once more.`,
  tryAgain: (platform: string) => `Nothing was changed. To try again, connect to ${platform} once more.`,
  blocked: 'The browser blocked the new tab.',
  blockedHelp: (platform: string) => `Open ${platform} with this button instead, and grant access there.`,
  open: (platform: string) => `Open ${platform}`,
  opening: (platform: string) => `Opening ${platform} …`,
  done: (connector: string) => `${connector} is connected`,
  connected: 'Connected',
  connectedHelp: (platform: string) => `A user of ${platform} granted access.`,
  appRemoved: (platform: string) =>
    `The operator of this deployment has removed the app at ${platform}, so transfers fail. Ask the operator to register it again with the command oauth-app set of Penstock, or enter credentials.`,
  notAvailable: (platform: string) =>
    `To connect with a click, ask the operator of this deployment to register an app at ${platform} with the command oauth-app set of Penstock. Until then, enter the credentials here.`,
  lastChanged: 'Last changed',
  byHand: 'Enter credentials instead',
  activate: 'Activate',
  activateOf: (connection: string) => `Activate ${connection}`,
  activated: (connection: string) => `${connection} is active`,
}
