import { useEffect, useState, useSyncExternalStore } from 'react'
import { Navigate, useSearchParams } from 'react-router'
import { enter } from '../../api/enter.ts'
import { anonymous, sessionStore, usedClientLast } from '../../api/session.ts'
import { ClientForm } from './client-form.tsx'
import { PasswordForm } from './password-form.tsx'

/** Signs in a person, or with client credentials, then opens the page that was asked for. */
export function Component() {
  const signedIn = useSyncExternalStore(sessionStore.subscribe, sessionStore.read)
  const [parameters] = useSearchParams()
  const to = parameters.get('to')
  const [withClient, setWithClient] = useState(usedClientLast)
  const fromProvider = parameters.has('single-sign-on')
  // The person who is signed in here may not be the one whom the provider sent back.
  const [link] = useState(() => (parameters.has('confirm') ? window.location.hash.slice(1) : undefined))
  const [before] = useState(signedIn)
  useEffect(() => {
    // The cookie is set, and the console does not know whose it is. If there is none, they sign in here.
    if (fromProvider)
      anonymous.getMe().then(
        ({ reply }) => enter(reply),
        () => {},
      )
  }, [fromProvider])
  if (signedIn && (!link || signedIn !== before)) return <Navigate to={pageOf(to)} replace />
  if (link) return <PasswordForm link={link} />
  const Form = withClient ? ClientForm : PasswordForm
  return <Form isExpired={to !== null} onOther={() => setWithClient(!withClient)} />
}

/** The requested page; the first page if the address is external. */
function pageOf(to: string | null): string {
  const { origin, pathname, search } = new URL(to ?? '/', window.location.origin)
  return origin === window.location.origin ? pathname + search : '/'
}
