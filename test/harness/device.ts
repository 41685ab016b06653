import type { Page } from 'playwright-core'

/** A device that verifies its user, as a laptop with a fingerprint reader does: the virtual authenticator of Chromium. */
export async function addDevice(page: Page): Promise<{ verifies(isUserVerified: boolean): Promise<unknown> }> {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      automaticPresenceSimulation: true,
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
    },
  })
  return {
    verifies: (isUserVerified) => devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
  }
}
