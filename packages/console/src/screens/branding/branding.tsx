import type { Branding } from '@penstock/wire'
import { useState } from 'react'
import { readOnce, useRead } from '../../api/queries.ts'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { branding as say } from '../../strings/branding.ts'
import { BrandingForm } from './branding-form.tsx'

export const readAhead = () => readOnce('getBranding', {})

/** How the pages of connect links look, and which sites may show them. */
export function Component() {
  const query = useRead('getBranding', {})
  return (
    <Page title={say.title} help={say.help}>
      <Loaded query={query} lines={8}>
        {({ reply }) => <Editing saved={reply} />}
      </Loaded>
    </Page>
  )
}

/** The form keeps what it was opened with while others save; after a save or *Discard changes* it begins with what is saved. */
function Editing({ saved }: { saved: Branding }) {
  const [opened, setOpened] = useState({ branding: saved, number: 0 })
  const begin = (branding: Branding) => setOpened(({ number }) => ({ branding, number: number + 1 }))
  return <BrandingForm key={opened.number} opened={opened.branding} onSaved={begin} onDiscard={() => begin(saved)} />
}
