package com.sample;

import com.ice.core.context.IceRoam;
import com.ice.core.leaf.base.BaseLeafFlow;

public class UidFlow extends BaseLeafFlow {
    @Override
    protected boolean doFlow(IceRoam roam) {
        return roam.get("uid") != null;
    }
}
