import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { IconHistory } from '@tabler/icons-react'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { useForbidden } from '../../api/me.ts'
import { useRead } from '../../api/queries.ts'
import { NotAllowed } from '../../components/failure.tsx'
import { Loaded } from '../../components/loaded.tsx'
import { Page } from '../../components/page.tsx'
import { pathOf } from '../../shell/account.ts'
import { newConnection as say } from '../../strings/new-connection.ts'
import { MapFields } from './mapper/map-fields.tsx'
import { PickDestination } from './pick/pick-destination.tsx'
import { PickSource } from './pick/pick-source.tsx'
import { Review } from './review/review.tsx'
import { ReviewSet } from './set/review-set.tsx'
import { SetProgress } from './set/set-progress.tsx'
import { SetUp } from './set-up/set-up.tsx'
import { Steps } from './steps.tsx'
import { useNewWizard, useWizard, WizardProvider } from './wizard.ts'

/** Makes a connection step by step: both sides, their settings, the mapping, and its activation. */
export function Component() {
  const wizard = useNewWizard()
  const { accountId, connection, connectionId } = wizard
  // Where a draft was left is known before this visit makes its own mark.
  const [left, setLeft] = useState(wizard.draft.at)
  const forbidden = useForbidden('createConnection')
  const isNew = connection === undefined || connection.status === 'In-progress'
  const cancel = (
    <Button
      component={Link}
      variant="default"
      to={pathOf(accountId, connectionId ? `connections/${connectionId}` : 'connections')}
    >
      {connectionId ? say.openConnection : say.leave}
    </Button>
  )
  return (
    <WizardProvider value={wizard}>
      <Page title={isNew ? say.title : say.titleOfExisting} help={connection?.name ?? say.help} actions={cancel}>
        {forbidden && <NotAllowed reason={forbidden} />}
        <Steps />
        <SetProgress />
        {left !== undefined && wizard.sourceId === '' && (
          <Unfinished at={left} onStartOver={() => setLeft(undefined)} />
        )}
        <StepRegion>
          <CurrentStep />
        </StepRegion>
      </Page>
    </WizardProvider>
  )
}

/** Takes the focus when the step changes, so that keyboard users continue from there. */
function StepRegion({ children }: { children: ReactNode }) {
  const { step } = useWizard()
  const region = useRef<HTMLElement>(null)
  const shown = useRef(step)
  useEffect(() => {
    if (shown.current !== step) region.current?.focus()
    shown.current = step
  }, [step])
  return (
    <section ref={region} aria-label={say.step[step]} tabIndex={-1} style={{ outline: 'none' }}>
      {children}
    </section>
  )
}

function CurrentStep() {
  const { step, connectionId, reading, set, targets } = useWizard()
  if (step === 'source') return <PickSource />
  if (step === 'destination') return <PickDestination />
  if (connectionId === '') return <SetUp />
  return (
    <Loaded query={reading} lines={6}>
      {({ reply }) => {
        if (step === 'settings') return <SetUp />
        if (step === 'mapping') return <MapFields connection={reply} />
        return set !== '' && targets.length > 1 ? <ReviewSet /> : <Review connection={reply} />
      }}
    </Loaded>
  )
}

/** Offers to continue an unfinished connection to a user who begins another one. */
function Unfinished({ at, onStartOver }: { at: string; onStartOver: () => void }) {
  const { accountId, draft, clear } = useWizard()
  const navigate = useNavigate()
  const { data } = useRead('listConnectors', { accountId, query: { size: 500 } })
  const picks = new URLSearchParams(at)
  const nameOf = (id: string | null) => data?.reply.find(({ connectorId }) => connectorId === id)?.name ?? ''
  const name = draft.texts[`name of ${picks.get('connection') ?? 'new'}`]
  return (
    <Alert color="water" icon={<IconHistory aria-hidden />} title={say.unfinished}>
      <Stack gap="sm" align="flex-start">
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {say.leftPicks(name, nameOf(picks.get('source')), nameOf(picks.get('destination')))}
        </Text>
        <Group gap="sm">
          <Button size="compact-sm" onClick={() => void navigate(`?${at}`, { replace: true })}>
            {say.resume}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            onClick={() => {
              clear()
              onStartOver()
            }}
          >
            {say.startOver}
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}
