/** Hosts of files of The Trade Desk: its own, and stores in which it keeps them. */
export const fileHosts = /^(?:[a-z0-9-]+\.)+(?:thetradedesk\.com|adsrvr\.org|amazonaws\.com|blob\.core\.windows\.net)$/
