import { readOnce, readOnceIfAny } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'
import { SecondFactorCard } from './second-factor-card.tsx'
import { SingleSignOnCard } from './single-sign-on-card.tsx'

export const readAhead = () => Promise.all([readOnce('getSignInRules', {}), readOnceIfAny('getSingleSignOn', {})])

/** How the people of the organization sign in. */
export function Component() {
  return (
    <Page title={say.title} help={say.help}>
      <SingleSignOnCard />
      <SecondFactorCard />
    </Page>
  )
}
