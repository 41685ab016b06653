import { testEchoes } from './echoes/echo.ts'

/** Platforms of audiences and events. */
testEchoes('audiences', 'events', 'reports')
