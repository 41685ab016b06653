import { RateLimiterMemory } from 'rate-limiter-flexible'

/** Invitations that are mailed within an hour: for one organization, and to one address from all organizations together. */
export const mailsMax = { ofOrganization: 200, toAddress: 5 } as const
const hourSeconds = 3_600

/** Counts an invitation. Returns whether it may be mailed; its link is given in any case. */
export type MailLimit = (organizationId: string, email: string) => Promise<boolean>

/** Bounds what tenants can have the operator's mail server send, in each process. */
export function createMailLimit(): MailLimit {
  const organizations = new RateLimiterMemory({ points: mailsMax.ofOrganization, duration: hourSeconds })
  const addresses = new RateLimiterMemory({ points: mailsMax.toAddress, duration: hourSeconds })
  return async (organizationId, email) => {
    const counted = await Promise.all([organizations.penalty(organizationId), addresses.penalty(email.toLowerCase())])
    const [ofOrganization, toAddress] = counted.map(({ consumedPoints }) => consumedPoints)
    return (ofOrganization ?? 0) <= mailsMax.ofOrganization && (toAddress ?? 0) <= mailsMax.toAddress
  }
}
