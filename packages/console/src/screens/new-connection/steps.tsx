import { Box, Group, Progress, Stepper, Text } from '@mantine/core'
import { newConnection as say } from '../../strings/new-connection.ts'
import { steps, useWizard } from './wizard.ts'

/** The current step. A step that the user can open is a button. Phones show only the current step. */
export function Steps() {
  const { step, isOpen, go } = useWizard()
  const active = steps.indexOf(step)
  return (
    <>
      <Stepper
        visibleFrom="md"
        size="sm"
        iconSize={32}
        active={active}
        onStepClick={(index) => go(steps[index] ?? 'source')}
        component="nav"
        aria-label={say.steps}
      >
        {steps.map((one) => (
          <Stepper.Step
            key={one}
            label={say.step[one]}
            description={say.stepHelp[one]}
            allowStepSelect={one !== step && isOpen(one)}
            disabled={one !== step && !isOpen(one)}
            aria-current={one === step ? 'step' : undefined}
          />
        ))}
      </Stepper>
      <Box hiddenFrom="md">
        <Group justify="space-between" mb={6}>
          <Text fw={600} size="sm">
            {say.step[step]}
          </Text>
          <Text size="sm" c="dimmed">
            {say.stepOf(active + 1, steps.length)}
          </Text>
        </Group>
        <Progress
          value={((active + 1) / steps.length) * 100}
          size="sm"
          aria-label={say.stepOf(active + 1, steps.length)}
        />
      </Box>
    </>
  )
}
