/** The texts of connectors that are connected with a click, wherever they are shown. */
export const authorization = {
  connect: (platform: string) => `Connect to ${platform}`,
  connectHelp: (platform: string) =>
    `Grant access at ${platform} in a new tab. You do not have to copy credentials: Penstock saves the access in this connector, encrypted.`,
  reconnect: 'Reconnect',
  reconnectOf: (connector: string) => `Reconnect ${connector}`,
  title: (platform: string) => `Access to ${platform}`,
  waiting: (platform: string) => `Waiting for ${platform}`,
  waitingHelp: (platform: string) =>
    `Grant access in the new tab. This page updates a few seconds later. If you closed the tab, connect to ${platform} again.`,
  declined: 'Access was not granted',
  declinedHelp: (platform: string) =>
    `You declined at ${platform}, or your user there cannot grant this access. Nothing was changed. To try again, connect to ${platform} once more.`,
  failed: (platform: string) => `${platform} was not connected`,
  failedHelp: (platform: string) =>
    `The new tab shows the reason. Nothing was changed. To try again, connect to ${platform} once more.`,
  tryAgain: (platform: string) => `Nothing was changed. To try again, connect to ${platform} once more.`,
  blocked: 'The browser blocked the new tab.',
  blockedHelp: (platform: string) => `Open ${platform} with this button instead, and grant access there.`,
  open: (platform: string) => `Open ${platform}`,
  opening: (platform: string) => `Opening ${platform} …`,
  done: (connector: string) => `${connector} is connected`,
  connected: 'Connected',
  connectedHelp: (platform: string) => `A user of ${platform} granted access.`,
  appRemoved: (platform: string) =>
    `The operator of this deployment has removed the app at ${platform}, so transfers fail. Ask the operator to register it again (command “oauth-app set”), or enter credentials.`,
  notAvailable: (platform: string) =>
    `To connect with a click, ask the operator of this deployment to register an app at ${platform} (command “oauth-app set”). Until then, enter the credentials here.`,
  lastChanged: 'Last changed',
  byHand: 'Enter credentials instead',
  activate: 'Activate',
  activateOf: (connection: string) => `Activate ${connection}`,
  activated: (connection: string) => `${connection} is active`,
}
