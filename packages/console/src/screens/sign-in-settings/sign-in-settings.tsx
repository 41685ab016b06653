import { readOnce } from '../../api/queries.ts'
import { Page } from '../../components/page.tsx'
import { signInSettings as say } from '../../strings/sign-in-settings.ts'
import { SingleSignOnCard } from './single-sign-on-card.tsx'

export const readAhead = () => readOnce('getSingleSignOn', {})

/** How the people of the organization sign in. */
export function Component() {
  return (
    <Page title={say.title} help={say.help}>
      <SingleSignOnCard />
    </Page>
  )
}
