/** Loaded before the tests of a package that is being added, so that the tests and the package use the kit of this program. */
import { useKit } from '@penstock/connectors/installed/use-kit'

useKit()
